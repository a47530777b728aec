"""A new day has a new budget: what yesterday's did not cover is taken up, the worst first."""

from engine.budget import day_start, exhausted
from engine.ports import JobWish, Queue
from engine.stages.world import World


async def take_up(client_id: str, world: World) -> int:
    """Investigate what still fires and was left alone for lack of money; gives how many.

    No more than may wait for a model at once; the rest follows when these are done.
    """
    rule = world.rules.triage
    async with world.store.begin() as tx:
        today = day_start(await tx.now())
        left = await tx.runs.unpaid(client_id, today)
        if not left or exhausted(await tx.calls.spent(client_id, today), world.rules.budget):
            return 0
        room = rule.storm_waiting - await tx.jobs.waiting(Queue.TRIAGE, client_id)
        taken = left[: max(0, room)]
        wishes = [
            JobWish(
                Queue.TRIAGE,
                {"incident_id": one.incident_id, "trigger": one.trigger.value},
                key=one.incident_id,
                rank=one.rank,
                delay_s=place * rule.resume_gap_s,
            )
            for place, one in enumerate(taken)
        ]
        await tx.jobs.enqueue_all(client_id, wishes)
    return len(taken)
