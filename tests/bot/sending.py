"""A database with incidents, two chats over loopback, and an outbox between them."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from pydantic import SecretStr
from sqlalchemy import text

from bot.backends.clock import SystemClock
from bot.chats.chat import Chat
from bot.chats.slack.outbox import SlackChat
from bot.chats.telegram.outbox import TelegramChat
from bot.config import SlackSettings, TelegramSettings
from bot.drill.doubles.serve import serve
from bot.drill.doubles.slack import SlackDouble
from bot.drill.doubles.telegram import TelegramDouble
from bot.outbox import Outbox
from bot.outbox.pace import Rate
from bot.telemetry import Telemetry
from cards.render.links import nowhere
from engine.model.alert import Severity
from engine.model.incident import Incident
from engine.model.org import Platform, Room
from storage.store import SqlStore
from storage.tables import AlertEventRow, AlertGroupRow, ClientRow, IncidentRow, MemberRow
from tests.cards import cases

SLACK = Room(id="s", platform=Platform.SLACK, chat="C1")
TELEGRAM = Room(id="t", platform=Platform.TELEGRAM, chat="-1001")
QUICK = {
    Platform.SLACK: Rate(gap_s=0.02, edit_gap_s=0.02, storm_above=20),
    Platform.TELEGRAM: Rate(gap_s=0.02, edit_gap_s=0.02, storm_above=6),
}


@dataclass
class Stage:
    """What a test has in its hands."""

    store: SqlStore
    slack: SlackDouble
    telegram: TelegramDouble
    chats: dict[Platform, Chat]
    slack_url: str = ""
    telemetry: Telemetry = field(default_factory=Telemetry)
    numbers: int = 0
    telegram_url: str = ""

    def outbox(self, **more: Any) -> Outbox:
        settings = {"rates": QUICK} | more
        return Outbox(
            store=self.store,
            chats=self.chats,
            clock=SystemClock(),
            telemetry=self.telemetry,
            links=nowhere,
            **settings,
        )

    @asynccontextmanager
    async def running(self, **more: Any) -> AsyncIterator[None]:
        stop = asyncio.Event()
        task = asyncio.create_task(self.outbox(**more).run(stop))
        try:
            yield
        finally:
            stop.set()
            await asyncio.wait_for(task, 10)

    async def incident(
        self,
        severity: Severity = Severity.CRITICAL,
        rule: str = "CheckoutHighErrorRate",
        **labels: str,
    ) -> Incident:
        """File an incident with one alert."""
        self.numbers += 1
        n = self.numbers
        made = cases.alert(rule, severity, **labels)
        async with self.store.begin() as tx:
            now = await tx.now()
            common = {"client_id": "default", "alert_class": "symptom"}
            tx.session.add(
                AlertGroupRow(
                    id=f"g{n}", family_key=f"f{n}", rule=rule, scope=dict(cases.SCOPE), **common
                )
            )
            tx.session.add(
                IncidentRow(
                    id=f"i{n}", number=n, severity=severity.value, settle_at=now,
                    window_until=now, **common,
                )
            )  # fmt: skip
            await tx.session.flush()
            event = AlertEventRow(
                client_id="default", source="a", fingerprint=f"p{n}", starts_at=made.starts_at,
                status="firing", severity=severity.value, labels={}, annotations={},
                group_id=f"g{n}", alert=made.model_dump(mode="json"),
            )  # fmt: skip
            tx.session.add(event)
            await tx.session.flush()
            tx.session.add(
                MemberRow(
                    incident_id=f"i{n}", fingerprint=f"p{n}", client_id="default",
                    group_id=f"g{n}", event_id=event.id, state="firing", reason="opened",
                )
            )  # fmt: skip
        async with self.store.begin() as tx:
            found = await tx.incidents.get(f"i{n}")
        assert found is not None
        return found

    async def wish(self, incident: Incident, reason: str = "opened") -> None:
        async with self.store.begin() as tx:
            await tx.cards.wish(incident, reason)

    async def finding(self, incident: Incident, number: int = 1, **more: Any) -> None:
        """Let an investigation end, each time with another cause."""
        cause = cases.finding().root_cause_key
        assert cause is not None
        key = cause.model_copy(update={"component": f"part-{number}"})
        found = cases.finding(
            triage_id=f"{incident.id}-{number}", incident_id=incident.id, root_cause_key=key,
            **more,
        )  # fmt: skip
        async with self.store.begin() as tx:
            await tx.findings.keep(found)
            await tx.cards.wish(incident, "done")
            await tx.cards.wish_message(incident, "finding", f"{key}", audible=True)
            await tx.cards.wish_message(incident, "evidence", "", audible=False)

    async def rows(self, statement: str) -> Sequence[Any]:
        async with self.store.begin() as tx:
            return (await tx.session.execute(text(statement))).all()

    async def change(self, statement: str) -> None:
        async with self.store.begin() as tx:
            await tx.session.execute(text(statement))

    def counted(self, name: str, **labels: str) -> float:
        return self.telemetry.registry.get_sample_value(f"caveat_{name}", labels) or 0.0

    async def settled(self) -> None:
        """Wait until nothing is wished for any more."""

        async def done() -> bool:
            async with self.store.begin() as tx:
                return await tx.cards.settled("default")

        async with asyncio.timeout(12):
            while not await done():
                await asyncio.sleep(0.03)


async def until(true: Callable[[], bool], within_s: float = 10) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(within_s):
            while not true():
                await asyncio.sleep(0.02)
    assert true()


@asynccontextmanager
async def stage(store: SqlStore, *rooms: Room) -> AsyncIterator[Stage]:
    """Doubles served, the client declared with these rooms."""
    clock = SystemClock()
    slack, telegram = SlackDouble(clock.now), TelegramDouble(clock.now)
    for room in rooms:
        if room.platform is Platform.SLACK:
            slack.channel(room.chat)
        if room.platform is Platform.TELEGRAM:
            telegram.chat(int(room.chat))
    async with store.begin() as tx:
        tx.session.add(ClientRow(id="default"))
        await tx.session.flush()
        await tx.org.declare_rooms("default", rooms)
    async with AsyncExitStack() as stack:
        slack_url = await stack.enter_async_context(slack.serving())
        telegram_url = await stack.enter_async_context(serve(telegram.app))
        bot = TelegramChat.from_settings(
            TelegramSettings(token=SecretStr(telegram.token), base_url=f"{telegram_url}/bot")
        )
        stack.push_async_callback(bot.close)
        made = SlackChat.from_settings(
            SlackSettings(bot_token=SecretStr(slack.token), base_url=f"{slack_url}/api/")
        )
        chats: dict[Platform, Chat] = {Platform.SLACK: made, Platform.TELEGRAM: bot}
        urls = {"telegram_url": telegram_url, "slack_url": slack_url}
        yield Stage(store, slack, telegram, chats, **urls)
