"""The whole product at work between doubles, fed by HTTP, with time moved by hand."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
from rich.console import Console
from sqlalchemy import text

from bot.backends.chart import Draw
from bot.chats.table import chats
from bot.compose import House
from bot.config import Settings
from bot.declare import declare
from bot.drill.doubles.anthropic import MessagesDouble
from bot.drill.doubles.anthropic_replies import Answerer
from bot.drill.doubles.prometheus import MetricsDouble
from bot.drill.doubles.serve import serve
from bot.drill.doubles.slack import SlackDouble
from bot.drill.doubles.telegram import TelegramDouble
from bot.drill.rehearsal_model import answer as rehearsed
from bot.outbox import Outbox
from bot.outbox.pace import RATES
from bot.serve import Running
from engine.model.correction import Correction
from engine.model.memory import Stub, StubState
from engine.model.run import CaseFile
from storage.embedded import EmbeddedPostgres
from storage.store import SqlStore, open_store
from tests.e2e.moved import MovedClock, make_movable, move_database

Json = dict[str, Any]
SLACK_ROOM = "C0ALERTS"
TELEGRAM_ROOM = -1001234567890
SLACK_PEOPLE = {"alice": "U0ALICE", "bob": "U0BOB"}
TELEGRAM_PEOPLE = {"alice": 7001, "bob": 7002}
BOT_TOKEN = "700000001:rehearsal"
TOKEN = "sender-token-0123456789"
NEVER = "0001-01-01T00:00:00Z"
HELLO: Json = {
    "status": "firing",
    "labels": {"alertname": "Hello", "severity": "info"},
    "annotations": {},
    "startsAt": "2026-11-30T01:00:00Z",
    "endsAt": NEVER,
}
"""Too slight for a card: all that is known after it is its sender."""
REAL_WAIT_S = 20.0
UNPACED = {
    platform: rate.model_copy(
        update={
            "gap_s": 0,
            "edit_gap_s": 0,
            "posts_per_minute": None,
            "edits_per_minute": None,
            "per_second": None,
        }
    )
    for platform, rate in RATES.items()
}
"""Doubles are not in a hurry; when a storm becomes a digest stays as it is."""
BUSY = """
    select (select count(*) from jobs where state = 'live'
              and (running or run_at <= clock_timestamp() + interval '2 seconds'))
         + (select count(*) from cards where wanted > sent and dead_reason is null
              and due_at <= clock_timestamp() + interval '65 seconds')
         + (select count(*) from messages where wanted > sent and dead_reason is null
              and due_at <= clock_timestamp() + interval '65 seconds')
"""
LEFT = """
    select 'job' as what, queue as which, running as held, error as last from jobs
    where state = 'live' and run_at <= clock_timestamp() + interval '2 seconds'
    union all select 'card', room_id, posting_since is not null, reason from cards
    where wanted > sent and dead_reason is null
    union all select 'message', kind, posting_since is not null, dedup_key from messages
    where wanted > sent and dead_reason is null
"""


@dataclass
class Theatre:
    """Doubles, house and clock of one play."""

    clock: MovedClock
    slack: SlackDouble
    telegram: TelegramDouble
    metrics: MetricsDouble
    model: MessagesDouble
    store: SqlStore
    dsn: str
    running: Running
    posted_at: list[datetime] = field(default_factory=list)
    """When each body was sent to the door."""
    http: httpx.AsyncClient = field(default_factory=lambda: httpx.AsyncClient(trust_env=False))

    @property
    def house(self) -> House:
        return self.running.house

    async def post(self, body: Json, kind: str = "alertmanager") -> httpx.Response:
        self.posted_at.append(self.clock.now())
        return await self.http.post(
            f"{self.running.url}/webhooks/{kind}",
            json=body,
            headers={"Authorization": f"Bearer {TOKEN}"},
        )

    async def fire(self, *alerts: Json) -> None:
        """Post firing (or, with `endsAt`, resolved) alerts as Alertmanager would."""
        reply = await self.post(alertmanager(list(alerts)))
        assert reply.status_code == 202, reply.text

    async def jump(self, offset_s: float) -> None:
        """Make it so many seconds after the curtain, then let what comes round by the clock come.

        The sweeps come before any post of the new moment: the least friendly order.
        """
        self.clock.jump(offset_s)
        await move_database(self.dsn, self.clock.shift)
        sweeper = self.house.sweeper()
        await sweeper.sweep()
        await sweeper.reap()
        await self.quiet()

    async def quiet(self) -> None:
        """Wait until nothing is due, running or still to be drawn."""
        calm = 0
        try:
            async with asyncio.timeout(REAL_WAIT_S):
                while calm < 2:
                    calm = 0 if await self.busy() else calm + 1
                    await asyncio.sleep(0.03)
        except TimeoutError:
            async with self.store.begin() as tx:
                left = [dict(row._mapping) for row in await tx.session.execute(text(LEFT))]
            raise AssertionError(f"it does not come to rest: {left}") from None

    async def until(self, seen: Callable[[], bool]) -> None:
        """Wait for something outside the database."""
        async with asyncio.timeout(REAL_WAIT_S):
            while not seen():
                await asyncio.sleep(0.03)

    async def busy(self) -> bool:
        async with self.store.begin() as tx:
            return bool((await tx.session.execute(text(BUSY))).scalar())

    async def count(self, sql: str) -> int:
        async with self.store.begin() as tx:
            return int((await tx.session.execute(text(sql))).scalar() or 0)

    async def words(self, sql: str) -> list[str]:
        """The one column of a question."""
        async with self.store.begin() as tx:
            return list((await tx.session.execute(text(sql))).scalars())

    async def cases(self) -> list[CaseFile]:
        """Every incident, oldest first."""
        async with self.store.begin() as tx:
            rows = await tx.session.execute(text("select id from incidents order by number"))
            found = [await tx.case(row.id) for row in rows]
        return [case for case in found if case is not None]

    async def correct(self, **said: Any) -> None:
        """Keep a person's correction of the newest incident's alerts."""
        newest = (await self.cases())[-1].incident
        group = newest.groups[0]
        correction = Correction(
            id=secrets.token_hex(16),
            client_id=newest.client_id,
            family_key=group.family_key,
            rule=group.rule,
            by="ada",
            at=datetime(2026, 11, 3, 12, 0, tzinfo=UTC),
            **said,
        )
        async with self.store.begin() as tx:
            await tx.corrections.capture(correction)

    async def remember(self, **said: Any) -> None:
        """Keep what a person approved after an earlier incident, and let it become findable."""
        client_id = next(iter(self.house.settings.by_client))
        stub = Stub(client_id=client_id, family_key="earlier", state=StubState.APPROVED, **said)
        async with self.store.begin() as tx:
            await tx.stubs.keep(stub)
        await self.house.sweeper().sweep()

    def first_post_s(self) -> float | None:
        """Seconds from the last body sent to the newest Slack card; nothing moved in between."""
        posts = self.slack.accepted("chat.postMessage")
        roots = [call.at for call in posts if not call.given.get("thread_ts")]
        return (roots[-1] - self.posted_at[-1]).total_seconds() if roots else None


def alertmanager(alerts: list[Json]) -> Json:
    """The body Alertmanager posts."""
    firing = any(alert["status"] == "firing" for alert in alerts)
    return {
        "version": "4",
        "groupKey": "{}:{}",
        "truncatedAlerts": 0,
        "status": "firing" if firing else "resolved",
        "receiver": "caveat",
        "groupLabels": {},
        "commonLabels": {},
        "commonAnnotations": {},
        "externalURL": "http://alertmanager.example:9093",
        "alerts": alerts,
    }


def configured(home: Path, **urls: str) -> Json:
    """The configuration of a play; scenes override parts of it.

    Packs get more time than stock: a busy machine must not look like a backend that is away.
    """
    return {
        "prometheus": {"url": urls["metrics"]},
        "rooms": [{"slack": SLACK_ROOM}, {"telegram": TELEGRAM_ROOM}],
        "ai_triage": True,
        "webhook_token": TOKEN,
        "slack": {
            "bot_token": "xoxb-rehearsal",
            "app_token": "xapp-rehearsal",
            "base_url": f"{urls['slack']}/api/",
        },
        "telegram": {"token": BOT_TOKEN, "base_url": f"{urls['telegram']}/bot"},
        "model": {"api_key": "sk-rehearsal", "base_url": urls["model"]},
        "pack": {"section_timeout_s": 20, "timeout_s": 25},
        "http": {"port": 0},
        "home": str(home),
    }


def furnished(
    settings: Settings, store: SqlStore, clock: MovedClock, draw: Draw | None = None
) -> House:
    """A house whose outbox waits for no chat."""
    house = House(settings, store, chats(settings, Console(quiet=True)), clock=clock)
    house.outbox = Outbox(
        store=house.store,
        chats=house.chats,
        clock=house.clock,
        telemetry=house.telemetry,
        links=house.links,
        rates=UNPACED,
        offered=house.offered,
        draw=draw,
    )
    return house


async def acquaint(store: SqlStore, now: datetime) -> None:
    """Let every source have spoken yesterday."""
    async with store.begin() as tx:
        yesterday = {"at": now - timedelta(hours=25)}
        await tx.session.execute(text("update sources set first_seen_at = :at"), yesterday)


@asynccontextmanager
async def open_theatre(
    postgres: EmbeddedPostgres,
    home: Path,
    *,
    answer: Answerer = rehearsed,
    plant: Callable[[MetricsDouble], None] = lambda _: None,
    change: Callable[[Json], None] = lambda _: None,
    known: bool = True,
    live: bool = False,
    through: Callable[[SqlStore], SqlStore] = lambda store: store,
    draw: Draw | None = None,
) -> AsyncIterator[Theatre]:
    """Start everything; leaving it stops everything.

    Args:
        postgres: the server the play's database lives in, with the template made.
        home: state folder.
        answer: what the model says.
        plant: what the metrics server holds.
        change: edits the configuration before it is read.
        known: whether the source has spoken before the curtain.
        live: play in the machine's own time, for backends that are no doubles.
        through: gives the store the house has; the theatre's own looks straight in.
        draw: makes the charts; a play without it has none.
    """
    clock = MovedClock(live=live)
    slack, telegram = SlackDouble(clock.now), TelegramDouble(clock.now, token=BOT_TOKEN)
    slack.channel(SLACK_ROOM)
    telegram.chat(TELEGRAM_ROOM)
    for name, account in SLACK_PEOPLE.items():
        slack.person(account, name)
    for name, number in TELEGRAM_PEOPLE.items():
        telegram.person(number, name)
    metrics, model = MetricsDouble(clock.now), MessagesDouble(clock.now, answer)
    plant(metrics)
    doubles = {"telegram": telegram, "metrics": metrics, "model": model}
    name = f"play_{secrets.token_hex(4)}"
    async with AsyncExitStack() as stack:
        urls = {
            key: await stack.enter_async_context(serve(double.app))
            for key, double in doubles.items()
        }
        urls["slack"] = await stack.enter_async_context(slack.serving())
        url = await make_movable(postgres, name)
        stack.push_async_callback(postgres.drop_database, name)
        dsn = postgres.dsn(name)
        await move_database(dsn, clock.shift)
        store = open_store(url, audit_key=b"plays")
        stack.push_async_callback(store.close)
        raw = configured(home, **urls)
        change(raw)
        settings = Settings.model_validate(raw)
        await declare(store, settings)
        running = Running(furnished(settings, through(store), clock, draw))
        play = Theatre(clock, slack, telegram, metrics, model, store, dsn, running)
        stack.push_async_callback(play.http.aclose)
        if live:
            await acquaint(store, clock.now())
        await stack.enter_async_context(running.work())
        if known and not live:
            await play.fire(HELLO)
        if not live:
            await play.jump(0)
        yield play
