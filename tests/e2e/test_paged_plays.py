"""Pages of the whole product: with and without a model, from trigger to resolve."""

import asyncio
import itertools
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from bot.compose import fresh_id
from bot.drill.doubles.anthropic_replies import Answerer
from bot.drill.doubles.faults import Hang
from bot.drill.doubles.pagerduty import PagerDutyDouble
from bot.drill.doubles.serve import serve
from bot.drill.rehearsal_model import answer as rehearsed
from engine.desk.desk import Desk
from engine.model.action import Action
from engine.model.desk import Actor, Membership, Press
from engine.model.org import Identity, Platform
from storage.embedded import EmbeddedPostgres
from tests.e2e.moved import CURTAIN
from tests.e2e.planted import plant_estate
from tests.e2e.scene import Scene, scenes
from tests.e2e.theatre import NEVER, SLACK_ROOM, TELEGRAM_ROOM, Theatre, open_theatre

Json = dict[str, Any]
CLEAN: Scene = next(scene for scene in scenes() if scene.name == "01_clean")
ADA = Actor(
    identity=Identity(platform=Platform.SLACK, account="U0ADA"),
    name="ada",
    membership=Membership.FULL,
)


def oncall(url: str, double: PagerDutyDouble) -> Json:
    return {
        "routes": [
            {"slack": ["S0ONCALL"], "telegram": [4242], "pagers": ["pd"], "name": "shop on-call"}
        ],
        "pagers": {"pd": {"kind": "pagerduty", "url": url}},
        "secrets": {"pd": double.routing_key},
    }


@asynccontextmanager
async def paging(
    postgres: EmbeddedPostgres, home: Path, answer: Answerer = rehearsed, **flags: bool
) -> AsyncIterator[tuple[Theatre, PagerDutyDouble]]:
    double = PagerDutyDouble()
    async with (
        serve(double.app) as url,
        open_theatre(
            postgres,
            home,
            answer=answer,
            plant=lambda metrics: plant_estate(metrics, CLEAN.estate),
            change=lambda raw: raw.update(oncall=oncall(url, double), **flags),
        ) as theatre,
    ):
        yield theatre, double


def fired(service: str, offset_s: float, *, ended_s: float | None = None) -> Json:
    began = CURTAIN + timedelta(seconds=offset_s - 60)
    ended = None if ended_s is None else CURTAIN + timedelta(seconds=ended_s)
    return {
        "status": "resolved" if ended else "firing",
        "labels": {"alertname": "HighErrorRate", "severity": "critical", "service": service},
        "annotations": {"summary": f"{service} <!channel> fails"},
        "startsAt": began.isoformat(),
        "endsAt": ended.isoformat() if ended else NEVER,
    }


@pytest.mark.proves("S3-23", "S3-24", "S3-25", "S3-26", "S3-22")
async def test_paging_and_investigating_are_switched_one_without_the_other(
    playhouse: EmbeddedPostgres, tmp_path: Path
) -> None:
    switch = text("update clients set oncall_enabled = :oncall, ai_triage = :ai")
    seen = {}
    async with paging(playhouse, tmp_path) as (theatre, double):
        for n, (paged, ai) in enumerate(itertools.product((True, False), repeat=2)):
            before = len(double.said("trigger")), len(theatre.model.asked)
            async with theatre.store.begin() as tx:
                await tx.session.execute(switch, {"oncall": paged, "ai": ai})
            await theatre.jump(n * 7200)
            await theatre.fire(fired(f"shop-{n}", n * 7200))
            await theatre.quiet()
            await theatre.jump(n * 7200 + 45)
            after = len(double.said("trigger")), len(theatre.model.asked)
            seen[paged, ai] = (after[0] > before[0], after[1] > before[1])
    assert seen == {key: key for key in seen}


@pytest.mark.proves("S3-36", "S3-8")
async def test_with_a_model_that_is_down_the_page_is_out_at_once_and_one_key_ends_it(
    playhouse: EmbeddedPostgres, tmp_path: Path
) -> None:
    async with paging(playhouse, tmp_path, lambda _: Hang()) as (theatre, double):
        await theatre.fire(fired("shop", 0))
        async with asyncio.timeout(5):
            await theatre.until(lambda: len(double.events) == 1)
        await theatre.until(lambda: len(theatre.slack.cards(SLACK_ROOM)) == 1)
        await theatre.until(lambda: len(theatre.telegram.messages(TELEGRAM_ROOM)) == 1)
        posted = theatre.telegram.messages(TELEGRAM_ROOM)[0].text
        (case,) = await theatre.cases()
        taking = Press(client_id=case.client.id, incident_id=case.incident.id, action=Action.TAKE)
        await Desk(theatre.store, fresh_id).press(taking, ADA)
        await theatre.until(lambda: len(double.events) == 2)
        await theatre.fire(fired("shop", 0, ended_s=30))
        await theatre.until(lambda: len(double.events) == 3)
        (card,) = theatre.slack.cards(SLACK_ROOM)
        first = str((card.earlier or [card])[0])
    assert [event["event_action"] for event in double.events] == [
        "trigger",
        "acknowledge",
        "resolve",
    ]
    assert {alarm.state for alarm in double.alarms.values()} == {"resolved"}
    assert "<!subteam^S0ONCALL>" in first
    assert "<!channel>" not in first
    assert "shop on-call" in posted
