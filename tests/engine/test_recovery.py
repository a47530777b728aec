"""What an outage of the model provider stopped is taken up again."""

import pytest
from sqlalchemy import text

from engine.model.alert import Severity
from engine.model.run import FailureClass, Run, RunState, RunTrigger, SkipReason
from engine.ports import Queue
from engine.stages.recovery import try_again
from storage.queue import PostgresQueue
from tests.bot.backends.test_watched_model import BROKE, ask, watched
from tests.engine.conftest import World, alert, at


async def left(world: World, service: str, severity: Severity, at_s: float) -> str:
    """An incident nobody was asked about, for the breaker was open."""
    filed = alert(service=service, severity=severity, since_s=at_s, namespace=service)
    await world.deliver(filed, now_s=at_s)
    newest = max(await world.incidents(), key=lambda found: found.number)
    async with world.store.begin() as tx:
        skipped = Run(
            triage_id=f"run-{newest.id}",
            incident_id=newest.id,
            client_id="default",
            trigger=RunTrigger.AUTO,
            state=RunState.SKIPPED,
            created_at=at(at_s),
            finished_at=at(at_s),
            skip_reason=SkipReason.BREAKER_OPEN,
        )
        await tx.runs.add(skipped)
    return newest.id


@pytest.mark.proves("S3-117")
async def test_what_waited_is_taken_up_the_worst_first_and_one_by_one(world: World) -> None:
    model = watched(world.store, BROKE, "fine")
    await ask(model)
    high = await left(world, "search", Severity.HIGH, 0)
    worst = await left(world, "ledger", Severity.CRITICAL, 400)
    async with world.store.begin() as tx:
        await tx.session.execute(text("delete from jobs"))
        assert not await try_again(tx, "p")
        await tx.session.execute(text("update model_outages set retry_at = now() - interval '1s'"))
        assert await try_again(tx, "p")
    assert await world.jobs("triage") == [worst]
    async with world.store.begin() as tx:
        await tx.session.execute(text("delete from jobs"))
    await ask(model)
    async with world.store.begin() as tx:
        due = text("select key from jobs order by run_at")
        apart = text("select extract(epoch from max(run_at) - min(run_at)) from jobs")
        assert list((await tx.session.execute(due)).scalars()) == [worst, high]
        assert float((await tx.session.execute(apart)).scalar_one()) == pytest.approx(5, abs=0.5)


async def test_a_job_that_keeps_dying_ends_its_run_and_its_card_says_so(world: World) -> None:
    incident_id = await left(world, "search", Severity.HIGH, 0)
    async with world.store.begin() as tx:
        run = await tx.runs.newest(incident_id)
        assert run is not None
        await tx.runs.save(run.model_copy(update={"state": RunState.LOOKING}))
        await tx.session.execute(text("delete from jobs"))
        await tx.jobs.enqueue(
            Queue.TRIAGE, {"incident_id": incident_id}, key=incident_id, client_id="default"
        )
    queue = PostgresQueue(world.store, lease_s=0)
    claims = [len(await queue.claim([Queue.TRIAGE], 1)) for _ in range(4)]
    assert claims == [1, 1, 1, 0]
    async with world.store.begin() as tx:
        ended = await tx.runs.newest(incident_id)
    assert ended is not None
    assert (ended.state, ended.failure) == (RunState.FAILED, FailureClass.TERMINAL)
    assert (await world.wished())[incident_id] == RunState.FAILED.value
    assert await world.count("dead_letters", "reason = 'crash_loop'") == 1
