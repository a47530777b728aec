"""Logs and a cluster that forbids its events, from their servers to the model and the card."""

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import text

from bot.drill.doubles.kubernetes import KubernetesDouble
from bot.drill.doubles.loki import LokiDouble
from bot.drill.doubles.serve import serve
from cards import words
from engine.model.evidence import GapCause
from engine.model.pack import Pack, SectionName
from storage.embedded import EmbeddedPostgres
from tests.e2e.moved import CURTAIN
from tests.e2e.planted import plant_estate
from tests.e2e.play import perform
from tests.e2e.scene import SCENES, read
from tests.e2e.scripted import SCRIPTS
from tests.e2e.theatre import SLACK_ROOM, open_theatre

KEY = "AKIA" + "QWERTYUIOPASDFGH"


async def test_lines_reach_pack_model_and_card_and_a_missing_section_is_named(
    playhouse: EmbeddedPostgres, tmp_path: Path
) -> None:
    scene = read(SCENES / "01_clean.yaml")
    loki = LokiDouble()
    at = CURTAIN - timedelta(minutes=4)
    ours = {"namespace": "shop", "pod": "checkout-7d9f-1xq21", "tenant": "acme"}
    loki.plant(ours, (at, f"ERROR payment retries exhausted key={KEY}"))
    loki.plant({**ours, "tenant": "other"}, (at, "ERROR of another client"))
    async with serve(loki.app) as logs, serve(KubernetesDouble(allowed=()).app) as cluster:

        def change(raw: dict[str, Any]) -> None:
            raw["loki"] = {"url": logs, "extra_matchers": {"tenant": "acme"}}
            raw["kubernetes"] = {"url": cluster}

        async with open_theatre(
            playhouse,
            tmp_path,
            answer=SCRIPTS[scene.model],
            plant=lambda metrics: plant_estate(metrics, scene.estate),
            change=change,
        ) as theatre:
            for act in scene.acts[:2]:
                await perform(scene, act.model_copy(update={"facts_within_s": None}), theatre)
            async with theatre.store.begin() as tx:
                body = (await tx.session.execute(text("select body from packs"))).scalar_one()
            sent = json.dumps(theatre.model.asked[0].body, ensure_ascii=False)
            (card,) = theatre.slack.cards(SLACK_ROOM)
    pack = Pack.model_validate_json(body)
    told, forbidden = pack.section(SectionName.LOGS), pack.section(SectionName.KUBERNETES)
    assert told is not None
    assert forbidden is not None
    (line,) = told.items
    assert line.text.endswith("checkout-7d9f-1xq21: ERROR payment retries exhausted key=[redacted]")
    assert KEY not in body + sent
    assert '\\"field\\":\\"L1\\"' in sent
    assert pack.degraded == (SectionName.KUBERNETES,)
    assert forbidden.cause is GapCause.NOT_LET_IN
    assert f"the context pack has no {words.SECTION[SectionName.KUBERNETES]}" in str(card)
