"""The end of an investigation on a real database: what was paid for is kept, once."""

import asyncio
import itertools
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from sqlalchemy import text
from typing_extensions import override

from bot.backends.clock import SystemClock
from engine.errors import StoreUnavailableError
from engine.investigation.cache import CacheWatch
from engine.investigation.session import JudgePorts
from engine.model.event import EventFacts, SessionEvent
from engine.model.finding import Finding
from engine.model.run import Run
from engine.pack.section import Ports
from engine.ports import Queue, Tx
from engine.stages.investigate import investigate
from engine.stages.world import StageRules
from engine.stages.world import World as StageWorld
from storage.queue import PostgresQueue
from storage.store import SqlStore
from tests.engine.conftest import World, alert
from tests.engine.judged import drafted, ruled
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
    world: World, store: Shaky, at_stamp: Callable[[], Awaitable[None]]
) -> tuple[object, ScriptedLLM]:
    async with world.store.begin() as tx:
        await tx.org.set_flag("default", "ai_triage", True)
    await world.deliver(alert(service="checkout-api"), now_s=0)
    async with world.store.begin() as tx:
        await tx.session.execute(text("update jobs set run_at = clock_timestamp()"))
    [job] = await PostgresQueue(world.store).claim([Queue.TRIAGE], 1)
    llm, clock, numbers = ScriptedLLM([drafted(), ruled()]), HastyClock(), itertools.count(10**6)

    async def hear(_: Run, kind: SessionEvent, __: EventFacts) -> None:
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
