"""A provider takes us again: what waited for it is taken up, the worst first and one by one."""

from collections import defaultdict
from collections.abc import Sequence

from engine.model.outage import Outage
from engine.model.policy import TriageRule
from engine.ports import JobWish, Queue, Stopped, Tx


async def resume(tx: Tx, outage: Outage, rule: TriageRule) -> tuple[int, int]:
    """Take up what an outage stopped; gives how many incidents, and how many were given up.

    The first comes after a gap too: the call that was answered belongs to one at work.
    """
    stopped = await tx.outages.stopped(outage, given_up=True)
    await _wish(tx, stopped, rule.resume_gap_s)
    letters = [await tx.outages.resumed(one.incident_id) for one in stopped]
    return len(stopped), sum(map(bool, letters))


async def try_again(tx: Tx, provider: str) -> bool:
    """Let the worst incident that waits try a provider whose time has come; False: none does."""
    outage = await tx.outages.open(provider)
    if outage is None or not outage.shut or not outage.lets_through(await tx.now(), pressed=False):
        return False
    waiting = await tx.outages.stopped(outage, given_up=False)
    await _wish(tx, waiting[:1], 0)
    return bool(waiting)


async def _wish(tx: Tx, stopped: Sequence[Stopped], gap_s: float) -> None:
    wishes: dict[str, list[JobWish]] = defaultdict(list)
    for place, one in enumerate(stopped):
        wishes[one.client_id].append(
            JobWish(
                Queue.TRIAGE,
                {"incident_id": one.incident_id, "trigger": one.trigger.value},
                key=one.incident_id,
                rank=one.rank,
                delay_s=(place + 1) * gap_s,
            )
        )
    for client_id, jobs in wishes.items():
        await tx.jobs.enqueue_all(client_id, jobs)
