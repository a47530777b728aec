import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest

from bot.worker import Done, GiveUp, Handler, Retry, Settled, Verb, Worker
from engine.errors import StoreUnavailableError
from engine.ports import DeadReason, Delivery, Queue


@dataclass
class ListQueue:
    """A queue in memory that keeps the verbs it was told."""

    due: list[Delivery]
    told: list[str] = field(default_factory=list)
    leases: bool = True

    async def claim(self, queues: Sequence[Queue], limit: int) -> Sequence[Delivery]:
        taken = [d for d in self.due if d.queue in queues][:limit]
        self.due = [d for d in self.due if d not in taken]
        return taken

    async def ack(self, delivery: Delivery) -> bool:
        self.told.append(f"ack {delivery.key}")
        return True

    async def nak(self, delivery: Delivery, delay_s: float, error: str) -> bool:
        self.told.append(f"nak {delivery.key} {delay_s:g} {error}")
        return True

    async def term(self, delivery: Delivery, reason: DeadReason, error: str) -> bool:
        self.told.append(f"term {delivery.key} {reason}")
        return True

    async def in_progress(self, delivery: Delivery) -> bool:
        return self.leases

    async def wait(self, timeout_s: float) -> None:
        await asyncio.sleep(0.01)


def job(key: str, queue: Queue = Queue.TRIAGE) -> Delivery:
    return Delivery(job_id=key, queue=queue, key=key, ids={}, client_id="a", number=1, fence=1)


@asynccontextmanager
async def at_work(queue: ListQueue, handler: Handler, slots: int = 4) -> AsyncIterator[Worker]:
    worker = Worker(
        queue,
        {Queue.TRIAGE: handler},
        {Queue.TRIAGE: slots},
        renew_s=0.02,
        poll_s=0.01,
        grace_s=0.2,
    )
    stop = asyncio.Event()
    running = asyncio.create_task(worker.run(stop))
    yield worker
    stop.set()
    await running


async def told(queue: ListQueue, count: int) -> list[str]:
    async with asyncio.timeout(2):
        while len(queue.told) < count:
            await asyncio.sleep(0.005)
    return queue.told


@pytest.mark.parametrize(
    ("verb", "said"),
    [
        (Done(), "ack 1"),
        (Retry(delay_s=15, error="busy"), "nak 1 15 busy"),
        (GiveUp(reason=DeadReason.TERMINAL, error="refused"), "term 1 terminal"),
    ],
)
async def test_a_handlers_verb_is_said_to_the_queue(verb: Verb, said: str) -> None:
    queue = ListQueue([job("1")])

    async def handler(_: Delivery) -> Verb:
        return verb

    async with at_work(queue, handler):
        assert await told(queue, 1) == [said]


async def test_a_job_that_settled_itself_is_left_alone() -> None:
    queue = ListQueue([job("1"), job("2")])

    async def handler(delivery: Delivery) -> Verb:
        return Settled() if delivery.key == "1" else Done()

    async with at_work(queue, handler):
        assert await told(queue, 1) == ["ack 2"]


async def test_a_fault_of_ours_is_no_verb_so_that_the_claims_are_counted() -> None:
    queue = ListQueue([job("bad"), job("good")])

    async def handler(delivery: Delivery) -> Verb:
        if delivery.key == "bad":
            raise RuntimeError
        return Done()

    async with at_work(queue, handler):
        await told(queue, 1)
    assert queue.told == ["ack good"]


async def test_a_database_that_went_away_gives_the_job_back_and_the_worker_goes_on() -> None:
    queue = ListQueue([job("bad"), job("good")])

    async def handler(delivery: Delivery) -> Verb:
        if delivery.key == "bad":
            raise StoreUnavailableError("gone")
        return Done()

    async with at_work(queue, handler):
        said = await told(queue, 2)
    assert "ack good" in said
    assert any(s.startswith("nak bad 15") for s in said)


async def test_only_as_many_run_at_once_as_there_are_slots() -> None:
    queue = ListQueue([job(str(n)) for n in range(6)])
    running, most = 0, 0

    async def handler(_: Delivery) -> Verb:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.02)
        running -= 1
        return Done()

    async with at_work(queue, handler, slots=2):
        assert len(await told(queue, 6)) == 6
    assert most == 2


async def test_a_lost_lease_stops_the_work() -> None:
    queue = ListQueue([job("1")], leases=False)
    finished = False

    async def handler(_: Delivery) -> Verb:
        nonlocal finished
        await asyncio.sleep(5)
        finished = True
        return Done()

    async with at_work(queue, handler):
        await told(queue, 1)
    assert not finished


async def test_a_stop_lets_short_jobs_end_and_hands_long_ones_back() -> None:
    queue = ListQueue([job("short"), job("long")])
    begun = asyncio.Event()

    async def handler(delivery: Delivery) -> Verb:
        begun.set()
        await asyncio.sleep(0.05 if delivery.key == "short" else 60)
        return Done()

    async with at_work(queue, handler):
        await begun.wait()
    assert sorted(queue.told) == [
        "ack short",
        "nak long 0 handed back: this worker is stopping",
    ]
