"""The whole product at work between doubles, fed by HTTP, with time moved by hand."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
from rich.console import Console
from sqlalchemy import text

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
from bot.serve import Running
from storage.embedded import EmbeddedPostgres
from storage.migrate import migrate
from storage.store import SqlStore, open_store
from tests.e2e.moved import MovedClock, make_movable, move_database

Json = dict[str, Any]
SLACK_ROOM = "C0ALERTS"
TELEGRAM_ROOM = -1001234567890
TOKEN = "sender-token-0123456789"
NEVER = "0001-01-01T00:00:00Z"
REAL_WAIT_S = 25.0


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
    http: httpx.AsyncClient = field(default_factory=lambda: httpx.AsyncClient(trust_env=False))

    @property
    def house(self) -> House:
        return self.running.house

    async def post(self, body: Json, kind: str = "alertmanager") -> httpx.Response:
        return await self.http.post(
            f"{self.running.url}/webhooks/{kind}",
            json=body,
            headers={"Authorization": f"Bearer {TOKEN}"},
        )

    async def fire(self, *alerts: Json) -> None:
        """Post firing (or, with `endsAt`, resolved) alerts as Alertmanager would."""
        reply = await self.post(alertmanager(list(alerts)))
        assert reply.status_code == 202, reply.text

    def alert(
        self, rule: str, *, ago_s: float = 5, severity: str = "critical", **labels: str
    ) -> Json:
        """An alert that began `ago_s` before now."""
        began = self.clock.now().timestamp() - ago_s
        return {
            "status": "firing",
            "labels": {"alertname": rule, "severity": severity, **labels},
            "annotations": {"summary": f"{rule} on {labels.get('service', 'something')}"},
            "startsAt": iso(began),
            "endsAt": NEVER,
            "generatorURL": "",
        }

    def resolved(self, alert: Json) -> Json:
        """The same alert, ended now."""
        return {**alert, "status": "resolved", "endsAt": iso(self.clock.now().timestamp())}

    async def advance(self, seconds: float) -> None:
        """Let time pass, in the process and in the database, and wait until all is quiet."""
        self.clock.shift_s += seconds
        await move_database(self.dsn, self.clock.shift_s)
        await self.quiet()

    async def quiet(self) -> None:
        """Wait until nothing is due, running or still to be drawn."""
        calm = 0
        async with asyncio.timeout(REAL_WAIT_S):
            while calm < 3:
                calm = 0 if await self.busy() else calm + 1
                await asyncio.sleep(0.05)

    async def busy(self) -> bool:
        async with self.store.begin() as tx:
            return bool((await tx.session.execute(text(BUSY))).scalar())

    async def count(self, sql: str) -> int:
        async with self.store.begin() as tx:
            return int((await tx.session.execute(text(sql))).scalar() or 0)

    def slack_cards(self) -> list[str]:
        """The lock-screen line of every card in Slack, oldest first."""
        return [message.text for message in self.slack.cards(SLACK_ROOM)]

    def telegram_cards(self) -> list[str]:
        """The text of every card in Telegram that is no reply, oldest first."""
        messages = self.telegram.messages(TELEGRAM_ROOM)
        return [m.text for m in messages if m.reply_to is None]

    async def ledger(self) -> Json:
        """The noise so far: cards, audible messages, model calls."""
        return {
            "cards": {"slack": len(self.slack_cards()), "telegram": len(self.telegram_cards())},
            "audible": {"telegram": len(self.telegram.audible(TELEGRAM_ROOM))},
            "model_calls": await self.count("select count(*) from llm_calls"),
            "incidents": await self.count("select count(*) from incidents"),
        }


BUSY = """
    select (select count(*) from jobs where state = 'live'
              and (running or run_at <= clock_timestamp()))
         + (select count(*) from cards where wanted > sent and dead_reason is null
              and due_at <= clock_timestamp() + interval '2 seconds')
         + (select count(*) from messages where wanted > sent and dead_reason is null
              and due_at <= clock_timestamp() + interval '2 seconds')
"""


def iso(at_s: float) -> str:
    from datetime import UTC, datetime

    return datetime.fromtimestamp(at_s, UTC).isoformat().replace("+00:00", "Z")


def alertmanager(alerts: list[Json]) -> Json:
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
    """The configuration of a play; scenarios override parts of it."""
    return {
        "prometheus": {"url": urls["metrics"]},
        "rooms": [{"slack": SLACK_ROOM}, {"telegram": TELEGRAM_ROOM}],
        "ai_triage": True,
        "webhook_token": TOKEN,
        "slack": {"bot_token": "xoxb-rehearsal", "base_url": f"{urls['slack']}/api/"},
        "telegram": {"token": "700000001:rehearsal", "base_url": f"{urls['telegram']}/bot"},
        "model": {"api_key": "sk-rehearsal", "base_url": urls["model"]},
        "http": {"port": 0},
        "home": str(home),
    }


@asynccontextmanager
async def open_theatre(
    postgres: EmbeddedPostgres,
    home: Path,
    *,
    answer: Answerer = rehearsed,
    plant: Callable[[MetricsDouble, MovedClock], None] = lambda _, __: None,
    change: Callable[[Json], None] = lambda _: None,
) -> AsyncIterator[Theatre]:
    """Start everything; leaving it stops everything.

    Args:
        postgres: the server the play's database lives in.
        home: state folder.
        answer: what the model says.
        plant: what the metrics server holds.
        change: edits the configuration before it is read.
    """
    clock = MovedClock()
    slack, telegram = SlackDouble(clock.now), TelegramDouble(clock.now, token="700000001:rehearsal")
    slack.channel(SLACK_ROOM)
    telegram.chat(TELEGRAM_ROOM)
    metrics, model = MetricsDouble(clock.now), MessagesDouble(clock.now, answer)
    plant(metrics, clock)
    name = f"play_{secrets.token_hex(4)}"
    async with AsyncExitStack() as stack:
        urls = {
            key: await stack.enter_async_context(serve(double.app))
            for key, double in {
                "slack": slack,
                "telegram": telegram,
                "metrics": metrics,
                "model": model,
            }.items()
        }
        url = await make_movable(postgres, name)
        stack.push_async_callback(postgres.drop_database, name)
        await migrate(url)
        store = open_store(url, audit_key=b"plays")
        stack.push_async_callback(store.close)
        raw = configured(home, **urls)
        change(raw)
        settings = Settings.model_validate(raw)
        await declare(store, settings)
        house = House(settings, store, chats(settings, Console(quiet=True)), clock=clock)
        running = Running(house)
        play = Theatre(clock, slack, telegram, metrics, model, store, postgres.dsn(name), running)
        stack.push_async_callback(play.http.aclose)
        await stack.enter_async_context(running.work())
        yield play
