"""Runs one rehearsed failure through the real front door, from its alert to its resolved card."""

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path

import httpx
from rich.console import Console

from bot.backends.clock import SystemClock
from bot.backends.late import preload
from bot.chats.table import chats
from bot.compose import House
from bot.config import ClientSettings, HttpSettings, Settings
from bot.database import database
from bot.declare import declare
from bot.drill.backends import Brought, brought
from bot.drill.scenario import Json, Scenario, Stage, alertmanager_post
from bot.serve import Running
from engine.intake import Filed
from engine.model.event import EventFacts, SessionEvent
from engine.model.incident import Incident, IncidentState
from engine.model.org import DRILL_CLIENT, Platform, Room
from engine.model.run import CaseFile, Run, RunState
from engine.ports import Clock
from storage.store import SqlStore

SETTLE_S = 1.5
"""A rehearsal settles sooner than real failures, by configuration."""
PATIENCE_S = 90.0
ROOM = Room(id="drill:console", platform=Platform.CONSOLE, chat="this terminal")
WORDS: Mapping[SessionEvent, str] = {
    SessionEvent.PACK: "evidence is frozen; the model reads it",
    SessionEvent.DRAFT: "a cause is drafted; looking for what would disprove it",
    SessionEvent.ROUND: "the checks are in; the draft is judged against them",
    SessionEvent.STAMP: "the engine stamps the finding",
}


@dataclass
class Told:
    """What a rehearsal came to."""

    scenario: str
    cases: list[CaseFile] = field(default_factory=list)
    facts_s: float | None = None
    """Alert accepted to facts card."""
    finding_s: float | None = None
    rehearsal_metrics: bool = True
    rehearsal_model: bool = True


@dataclass
class Rehearsal:
    """One rehearsal at work."""

    running: Running
    scenario: Scenario
    stage: Stage
    clock: Clock
    token: str
    console: Console
    opened: list[str] = field(default_factory=list)

    async def play(self) -> Told:
        """Let it happen and wait for its end."""
        told = Told(self.scenario.name)
        for change in self.scenario.changes(self.stage):
            await self._post("changes", change)
        self._say("the alert fires; Alertmanager posts its webhook")
        alerts = self.scenario.alerts(self.stage)
        started_s = self.clock.monotonic()
        await self._post("alertmanager", alertmanager_post(self.stage, alerts, resolved=False))
        await self._until(self._facts_shown)
        told.facts_s = self.clock.monotonic() - started_s
        await self._until(self._judged)
        told.finding_s = self.clock.monotonic() - started_s
        await self._until(self._drawn)
        now = Stage(self.stage.cluster, self.clock.now())
        self._say("the alert clears")
        await self._post("alertmanager", _ended(self.stage, now, self.scenario))
        await self._until(self._resolved)
        await self._until(self._drawn)
        told.cases = await self._cases()
        return told

    def _say(self, words: str) -> None:
        self.console.print(f"[dim]· {words}[/dim]")

    async def hear(self, _: Run, kind: SessionEvent, __: EventFacts) -> None:
        """Say what the triage is at."""
        if kind in WORDS:
            self._say(WORDS[kind])

    def filed(self, filed: Filed) -> None:
        """Take note of the incidents that were opened."""
        self.opened.extend(filed.opened)

    async def _post(self, kind: str, body: Json) -> None:
        async with httpx.AsyncClient(trust_env=False) as http:
            reply = await http.post(
                f"{self.running.url}/webhooks/{kind}",
                json=body,
                headers={"Authorization": f"Bearer {self.token}"},
            )
            reply.raise_for_status()

    async def _until(self, seen: Callable[[], Awaitable[bool]]) -> None:
        async with asyncio.timeout(PATIENCE_S):
            while not await seen():
                if self.running.stop.is_set():
                    raise RuntimeError("the process stopped during the rehearsal; see its log")
                await self.clock.sleep(0.05)

    async def _cases(self) -> list[CaseFile]:
        async with self.running.house.store.begin() as tx:
            found = [await tx.case(incident_id) for incident_id in self.opened]
        return [case for case in found if case is not None]

    async def _live(self) -> list[CaseFile]:
        merged = IncidentState.MERGED
        return [case for case in await self._cases() if case.incident.state is not merged]

    async def _facts_shown(self) -> bool:
        live = await self._live()
        async with self.running.house.store.begin() as tx:
            return bool(live) and all(
                [await tx.cards.posted(INCIDENT, case.incident.id) for case in live]
            )

    async def _judged(self) -> bool:
        ended = {RunState.DONE, RunState.SKIPPED, RunState.FAILED}
        live = await self._live()
        return bool(live) and all(c.run is not None and c.run.state in ended for c in live)

    async def _drawn(self) -> bool:
        async with self.running.house.store.begin() as tx:
            return await tx.cards.settled(DRILL_CLIENT)

    async def _resolved(self) -> bool:
        return all(_over(case.incident) for case in await self._live())


INCIDENT = "incident"


def _over(incident: Incident) -> bool:
    return incident.state is not IncidentState.OPEN


def _ended(stage: Stage, now: Stage, scenario: Scenario) -> Json:
    post = alertmanager_post(stage, scenario.alerts(stage), resolved=True)
    for alert in post["alerts"]:
        alert["endsAt"] = now.now.isoformat()
    return post


async def rehearse(scenario: Scenario, settings: Settings, home: Path, console: Console) -> Told:
    """Play one scenario in a process of its own making and let everything go at the end."""
    clock = SystemClock()
    stage = Stage(cluster=f"drill-{secrets.token_hex(3)}", now=clock.now())
    async with AsyncExitStack() as stack:
        own = await stack.enter_async_context(brought(settings, scenario, stage, clock))
        token = secrets.token_urlsafe(24)
        drill = _settings(settings, own, home, token)
        preload()
        store = await stack.enter_async_context(database(drill))
        await declare(store, drill, {DRILL_CLIENT: [ROOM]})
        await _clear(store)
        house = House(drill, store, chats(drill, console), clock=clock)
        running = Running(house)
        play = Rehearsal(running, scenario, stage, clock, token, console)
        house.also = play.hear
        house.filed = play.filed
        await stack.enter_async_context(running.work())
        told = await play.play()
    told.rehearsal_metrics = own.rehearsal_metrics
    told.rehearsal_model = own.model.rehearsal
    return told


async def _clear(store: SqlStore) -> None:
    """Close what an interrupted rehearsal left open; nobody needs to see it again."""
    async with store.begin() as tx:
        left = await tx.incidents.open_for_client(DRILL_CLIENT)
        ids = [incident.id for incident in left]
        await tx.incidents.close(DRILL_CLIENT, ids, await tx.now())
        await tx.cards.forget(DRILL_CLIENT)


def _settings(settings: Settings, own: Brought, home: Path, token: str) -> Settings:
    """The configuration of a rehearsal: the person's own backends, its own client and folder."""
    client = ClientSettings.model_validate(
        {
            "prometheus": own.prometheus,
            "ai_triage": True,
            "oncall_enabled": False,
            "budget": settings.budget,
            "webhook_token": token,
        }
    )
    return Settings(
        clients={DRILL_CLIENT: client},
        model=own.model,
        http=HttpSettings(port=0),
        home=home,
        pg_bin=settings.pg_bin,
        triage=settings.triage,
        correlation=settings.correlation.model_copy(update={"settle_s": SETTLE_S}),
        recurrence=settings.recurrence,
        pack=settings.pack,
        links=settings.links,
    )
