"""The end of an investigation on a real database: what was paid for is kept, once."""

import asyncio
import itertools
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

import pytest
from sqlalchemy import text
from typing_extensions import override

from bot.backends.clock import SystemClock
from engine.errors import OperatorActionRequiredError, StoreUnavailableError, TransientError
from engine.investigation.cache import CacheWatch
from engine.investigation.session import JudgePorts
from engine.model.event import EventFacts, SessionEvent
from engine.model.finding import Finding
from engine.model.policy import Budget
from engine.model.review import ReviewItem, ReviewReason
from engine.model.run import Run
from engine.pack.section import Ports
from engine.ports import Queue, Tx
from engine.stages.investigate import investigate
from engine.stages.world import StageRules
from engine.stages.world import World as StageWorld
from storage.queue import PostgresQueue
from storage.store import SqlStore
from tests.engine.conftest import World, alert
from tests.engine.judged import a_run, drafted, ruled
from tests.fakes import ScriptedLLM


class HastyClock(SystemClock):
    @override
    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(0)


@dataclass
class Shaky:
    """A store that goes away for some transactions."""

    store: SqlStore
    away: int = 0

    @asynccontextmanager
    async def begin(self) -> AsyncIterator[Tx]:
        if self.away:
            self.away -= 1
            raise StoreUnavailableError
        async with self.store.begin() as tx:
            yield tx


async def unheard(_: object, __: object) -> None:
    return None


async def investigated(
    world: World,
    store: Shaky,
    at_stamp: Callable[[], Awaitable[None]],
    *replies: str | Exception,
    heard: Callable[[SessionEvent, EventFacts], None] = lambda _, __: None,
    budget: Budget | None = None,
) -> tuple[object, ScriptedLLM]:
    async with world.store.begin() as tx:
        await tx.org.set_flag("default", "ai_triage", True)
    await world.deliver(alert(service="checkout-api"), now_s=0)
    async with world.store.begin() as tx:
        await tx.session.execute(text("update jobs set run_at = clock_timestamp()"))
    [job] = await PostgresQueue(world.store).claim([Queue.TRIAGE], 1)
    llm, clock, numbers = (
        ScriptedLLM([*(replies or (drafted(), ruled()))]),
        HastyClock(),
        itertools.count(10**6),
    )

    async def hear(_: Run, kind: SessionEvent, facts: EventFacts) -> None:
        heard(kind, facts)
        if kind is SessionEvent.STAMP:
            await at_stamp()

    def new_id() -> str:
        return f"{next(numbers):032x}"

    judge = JudgePorts(
        store=store,
        llm=llm,
        clock=clock,
        new_id=new_id,
        events=unheard,
        price=lambda _model, _usage: 0.0,
        cache=CacheWatch(),
        budget=budget,
    )
    stage = StageWorld(
        store=store, pack=Ports(clock, str), judge=judge, rules=StageRules(), listen=hear
    )
    return await investigate(job, stage, new_id), llm


async def test_a_finding_outlives_a_short_outage_of_the_database(world: World) -> None:
    store = Shaky(world.store)

    async def go_away() -> None:
        store.away = 2

    found, llm = await investigated(world, store, go_away)

    assert isinstance(found, Finding)
    assert await world.count("findings") == 1
    assert await world.jobs("triage") == []
    assert len(llm.asked) == await world.count("llm_calls") == 2


async def test_a_finding_is_kept_without_a_deadlock_with_intake(world: World) -> None:
    held: list[asyncio.Task[None]] = []

    async def as_intake() -> None:
        async with world.store.begin() as tx:
            await tx.session.execute(text("select from incidents for update"))
            locked.set()
            await asyncio.sleep(0.3)
            await tx.session.execute(text("select from jobs for update nowait"))

    async def lock() -> None:
        held.append(asyncio.create_task(as_intake()))
        await locked.wait()

    locked = asyncio.Event()
    found, _ = await investigated(world, Shaky(world.store), lock)
    await held[0]

    assert isinstance(found, Finding)


async def nothing() -> None:
    return None


async def reviewed(world: World, *replies: str | Exception) -> tuple[list[ReviewItem], list[str]]:
    asked: list[str] = []

    def hear(kind: SessionEvent, facts: EventFacts) -> None:
        if kind is SessionEvent.REVIEW:
            asked.append(str(facts["reason"]))

    await investigated(world, Shaky(world.store), nothing, *replies, heard=hear)
    async with world.store.begin() as tx:
        return await tx.reviews.listed(), asked


@pytest.mark.proves("S1-9")
async def test_a_fabrication_is_put_before_a_person(world: World) -> None:
    story = "db-9 at 203.0.113.9 lost 4,711 rows at 01:17Z after v9.9.9."
    items, asked = await reviewed(world, drafted(story), ruled(cause=story))
    assert [(i.reason, i.number, i.closed_at) for i in items] == [
        (ReviewReason.UNGROUNDED, 1, None)
    ]
    assert asked == ["ungrounded"]


async def test_an_investigation_that_is_given_up_is_put_before_a_person(world: World) -> None:
    items, asked = await reviewed(world, OperatorActionRequiredError("credit"))
    assert [i.reason for i in items] == [ReviewReason.DEAD_LETTER]
    assert asked == ["dead_letter"]


async def test_an_investigation_that_waits_for_another_try_is_not(world: World) -> None:
    assert await reviewed(world, TransientError("busy")) == ([], [])


async def test_a_crash_loop_is_put_before_a_person(world: World) -> None:
    async with world.store.begin() as tx:
        await tx.org.set_flag("default", "ai_triage", True)
    await world.deliver(alert(service="checkout-api"), now_s=0)
    incident = await world.incident(1)
    async with world.store.begin() as tx:
        await tx.runs.add(a_run(incident_id=incident.id, client_id="default"))
        await tx.session.execute(
            text("update jobs set run_at = clock_timestamp(), claims_without_verb = 99")
        )
    assert await PostgresQueue(world.store).claim([Queue.TRIAGE], 1) == []
    async with world.store.begin() as tx:
        [item] = await tx.reviews.listed()
    assert (item.reason, item.triage_id) == (ReviewReason.DEAD_LETTER, "t1")
