"""What every queue adapter must do; the adapter under test comes from the `queue` fixture."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from sqlalchemy import text

from engine.ports import DeadReason, Delivery, Queue
from storage.queue import PostgresQueue
from storage.store import SqlStore


@pytest.fixture
async def queue(store: SqlStore) -> AsyncIterator[PostgresQueue]:
    made = PostgresQueue(store, per_client={Queue.TRIAGE: 2}, lease_s=0.3)
    listening = asyncio.create_task(made.listen())
    yield made
    listening.cancel()
    await asyncio.gather(listening, return_exceptions=True)


async def put(
    store: SqlStore, key: str, *, client: str = "a", rank: int = 0, delay_s: float = 0
) -> None:
    async with store.begin() as tx:
        await tx.jobs.enqueue(
            Queue.TRIAGE,
            {"incident_id": key},
            key=key,
            client_id=client,
            rank=rank,
            delay_s=delay_s,
        )


async def take(queue: PostgresQueue, limit: int = 10) -> list[Delivery]:
    return list(await queue.claim([Queue.TRIAGE], limit))


async def test_a_job_commits_with_what_caused_it(store: SqlStore, queue: PostgresQueue) -> None:
    async def fail() -> None:
        async with store.begin() as tx:
            await tx.jobs.enqueue(Queue.TRIAGE, {}, key="lost", client_id="a")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        await fail()
    assert await take(queue) == []


async def test_an_acknowledged_job_is_gone(store: SqlStore, queue: PostgresQueue) -> None:
    await put(store, "i1")
    (job,) = await take(queue)
    assert (job.ids, job.number) == ({"incident_id": "i1"}, 1)
    assert await queue.ack(job)
    assert await take(queue) == []


async def test_the_worst_comes_first(store: SqlStore, queue: PostgresQueue) -> None:
    await put(store, "mild", client="a", rank=2)
    await put(store, "bad", client="b", rank=4)
    assert [j.key for j in await take(queue)] == ["bad", "mild"]


async def test_one_client_gets_its_cap_only(store: SqlStore, queue: PostgresQueue) -> None:
    for key in ("1", "2", "3"):
        await put(store, key)
    await put(store, "other", client="b")
    first = await take(queue)
    assert {j.key for j in first} == {"1", "2", "other"}
    assert await take(queue) == []
    assert await queue.ack(first[0])
    assert [j.key for j in await take(queue)] == ["3"]


async def test_a_job_given_back_waits_and_counts(store: SqlStore, queue: PostgresQueue) -> None:
    await put(store, "i1")
    (job,) = await take(queue)
    assert await queue.nak(job, 0.2, "busy")
    assert await take(queue) == []
    await asyncio.sleep(0.25)
    (again,) = await take(queue)
    assert again.number == 2


async def test_a_lost_lease_is_taken_over_and_refuses_the_old_holder(
    store: SqlStore, queue: PostgresQueue
) -> None:
    await put(store, "i1")
    (old,) = await take(queue)
    await asyncio.sleep(0.35)
    (new,) = await take(queue)
    assert new.number == 2
    assert not await queue.ack(old)
    assert not await queue.nak(old, 0, "")
    assert not await queue.term(old, DeadReason.TERMINAL, "")
    assert not await queue.in_progress(old)
    assert await queue.ack(new)


async def test_a_sign_of_life_keeps_the_lease(store: SqlStore, queue: PostgresQueue) -> None:
    await put(store, "i1")
    (job,) = await take(queue)
    for _ in range(3):
        await asyncio.sleep(0.15)
        assert await queue.in_progress(job)
    assert await take(queue) == []
    assert await queue.ack(job)


async def test_asking_again_while_it_runs_gives_exactly_one_more_delivery(
    store: SqlStore, queue: PostgresQueue
) -> None:
    await put(store, "i1")
    (job,) = await take(queue)
    for _ in range(5):
        await put(store, "i1")
    assert await take(queue) == []
    assert await queue.ack(job)
    (again,) = await take(queue)
    assert again.number == 1
    assert await queue.ack(again)
    assert await take(queue) == []


async def test_a_waiting_job_asked_for_again_stays_one_and_keeps_the_earlier_time(
    store: SqlStore, queue: PostgresQueue
) -> None:
    await put(store, "i1", delay_s=0.1)
    await put(store, "i1", delay_s=60)
    assert await take(queue) == []
    await asyncio.sleep(0.15)
    assert len(await take(queue)) == 1


async def test_a_job_given_up_leaves_a_letter_with_its_reason(
    store: SqlStore, queue: PostgresQueue
) -> None:
    await put(store, "i1")
    (job,) = await take(queue)
    assert await queue.term(job, DeadReason.OPERATOR_ACTION_REQUIRED, "credit is used up")
    assert await take(queue) == []
    assert await letters(store) == [("triage", "i1", "operator_action_required")]
    await put(store, "i1")
    assert len(await take(queue)) == 1


async def test_three_claims_without_an_answer_end_in_a_crash_loop(
    store: SqlStore, queue: PostgresQueue
) -> None:
    await put(store, "i1")
    for _ in range(3):
        assert len(await take(queue)) == 1
        await asyncio.sleep(0.35)
    assert await take(queue) == []
    assert await letters(store) == [("triage", "i1", "crash_loop")]


async def test_a_worker_is_woken_when_a_job_is_committed(
    store: SqlStore, queue: PostgresQueue
) -> None:
    await queue.wait(2)
    waiting = asyncio.create_task(queue.wait(5))
    await asyncio.sleep(0.05)
    await put(store, "i1")
    await asyncio.wait_for(waiting, 1)


async def letters(store: SqlStore) -> list[tuple[str, str, str]]:
    async with store.begin() as tx:
        rows = await tx.session.execute(
            text("select kind, subject_id, reason from dead_letters order by id")
        )
        return [(row.kind, row.subject_id, row.reason) for row in rows]
