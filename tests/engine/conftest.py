"""A client with one room and one source on a real database, and deliveries at chosen times."""

import asyncio
import itertools
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import text

from engine.correlate import judged_scopes
from engine.intake import Filed, Rules, file
from engine.model.alert import Alert, AlertStatus, Severity
from engine.model.incident import Incident, IncidentState
from engine.model.org import Client, Platform, Room
from engine.model.policy import IncidentRule
from engine.paging import Escalation
from engine.sweep import Swept, reap, sweep
from storage.migrate import migrate
from storage.store import SqlStore, open_store
from tests.database import EmbeddedPostgres, FreshDatabase

T0 = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
TEMPLATE = "migrated"


def at(seconds: float) -> datetime:
    return T0 + timedelta(seconds=seconds)


def alert(
    rule: str = "HighErrorRate",
    *,
    since_s: float = 0,
    until_s: float | None = None,
    severity: Severity = Severity.CRITICAL,
    source: str = "prom",
    **labels: str,
) -> Alert:
    return Alert(
        source=source,
        status=AlertStatus.FIRING if until_s is None else AlertStatus.RESOLVED,
        severity=severity,
        labels={"alertname": rule, "severity": severity.value, **labels},
        starts_at=at(since_s),
        ends_at=None if until_s is None else at(until_s),
    )


@dataclass
class World:
    """One client's alerts, from delivery to rows."""

    store: SqlStore
    client: Client = field(default_factory=lambda: Client(id="default"))
    rules: Rules = field(default_factory=Rules)
    source_id: str = "src"
    _ids: Iterable[int] = field(default_factory=lambda: itertools.count(1))

    def new_id(self) -> str:
        return f"{next(iter(self._ids)):032x}"

    async def connect(self) -> "World":
        """The source has spoken long ago: nothing is first contact."""
        async with self.store.begin() as tx:
            await tx.sources.seen(self.source_id, at(-10 * 86400), polled=False)
        return self

    async def deliver(
        self, *alerts: Alert, now_s: float, polled: bool = False, truncated: int = 0
    ) -> Filed:
        async with self.store.begin() as tx:
            source = await tx.sources.get(self.source_id)
            assert source is not None
            return await file(
                tx,
                self.client,
                source,
                alerts,
                now=at(now_s),
                new_id=self.new_id,
                rules=self.rules,
                polled=polled,
                truncated=truncated,
            )

    async def sweep(self, now_s: float) -> Swept:
        async with self.store.begin() as tx:
            flags = self.client.flags
            swept = await sweep(
                tx,
                self.client.id,
                now=at(now_s),
                new_id=self.new_id,
                escalation=Escalation(flags.oncall_enabled, self.rules.routes),
            )
            reaped = await reap(tx, self.client.id, now=at(now_s), rule=IncidentRule())
            return swept.model_copy(update={"closed": reaped.closed})

    async def judge(self, number: int, now_s: float) -> None:
        """What a finished triage leaves behind."""
        incident = await self.incident(number)
        async with self.store.begin() as tx:
            scopes = judged_scopes(incident, self.rules.correlation)
            await tx.incidents.judged(incident, at(now_s), scopes)
            await tx.session.execute(text("delete from jobs"))

    async def incidents(self, *states: IncidentState) -> list[Incident]:
        async with self.store.begin() as tx:
            ids = (await tx.session.execute(text("select id from incidents"))).scalars().all()
            found = [s.incident for s in await tx.incidents.load(ids, sample=None)]
        wanted = states or tuple(IncidentState)
        return sorted((i for i in found if i.state in wanted), key=lambda i: i.number)

    async def incident(self, number: int) -> Incident:
        return next(i for i in await self.incidents() if i.number == number)

    async def count(self, table: str, where: str = "true") -> int:
        async with self.store.begin() as tx:
            counted = text(f"select count(*) from {table} where {where}")
            return int((await tx.session.execute(counted)).scalar_one())

    async def jobs(self, queue: str) -> list[str]:
        async with self.store.begin() as tx:
            found = text("select key from jobs where queue = :queue order by key")
            return list((await tx.session.execute(found, {"queue": queue})).scalars())

    async def wished(self) -> dict[str, str]:
        """Reason of the newest wish, by subject."""
        async with self.store.begin() as tx:
            found = text("select subject_id, reason from cards")
            return {r.subject_id: r.reason for r in await tx.session.execute(found)}


@pytest.fixture(scope="session")
def template(postgres: EmbeddedPostgres) -> str:
    async def prepare() -> None:
        await migrate(await postgres.ensure_database(TEMPLATE))

    asyncio.run(prepare())
    return TEMPLATE


@pytest.fixture
async def new_world(template: str, fresh_database: FreshDatabase) -> AsyncIterator[World]:
    """A client whose source never spoke."""
    store = open_store(await fresh_database(template))
    async with store.begin() as tx:
        await tx.org.declare_client("default", {})
        room = Room(id="room", platform=Platform.CONSOLE, chat="here")
        await tx.org.declare_rooms("default", [room])
        await tx.sources.declare("src", "default", kind="alertmanager", name="prom", token=None)
    yield World(store)
    await store.close()


@pytest.fixture
async def world(new_world: World) -> World:
    return await new_world.connect()
