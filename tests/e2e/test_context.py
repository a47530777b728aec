"""One pack, three consumers: readers, the model and the replay go by the same bytes."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import text

from engine.investigation.conclude import Setting, opening
from engine.investigation.evidence import evidence
from engine.model.llm import ModelRequest
from engine.model.pack import Pack
from engine.model.policy import TriageRule
from engine.model.token import Scope, TokenKind
from storage.embedded import EmbeddedPostgres
from tests.e2e.planted import plant_estate
from tests.e2e.play import merge, perform
from tests.e2e.scene import SCENES, read
from tests.e2e.scripted import SCRIPTS
from tests.e2e.theatre import Theatre, open_theatre

SECRET = "reader-secret-0123456789"


@asynccontextmanager
async def played(
    name: str, acts: int, postgres: EmbeddedPostgres, home: Path
) -> AsyncIterator[Theatre]:
    """The stage as it stands after the first acts of a scene."""
    scene = read(SCENES / f"{name}.yaml")
    async with open_theatre(
        postgres,
        home,
        answer=SCRIPTS[scene.model],
        plant=lambda metrics: plant_estate(metrics, scene.estate),
        change=lambda raw: merge(raw, scene.settings),
    ) as theatre:
        for act in scene.acts[:acts]:
            await perform(scene, act, theatre)
        yield theatre


async def context(theatre: Theatre) -> httpx.Response:
    """What a reader is told of the one group that is in an incident."""
    groups = "select distinct group_id from incident_members"
    async with theatre.store.begin() as tx:
        group_id = (await tx.session.execute(text(groups))).scalar_one()
        await tx.tokens.add(
            SECRET, name="reader", kind=TokenKind.SERVICE, scopes=[Scope.READ],
            client_id="default", days=1, by="test",
        )  # fmt: skip
    url = f"{theatre.running.url}/api/v1/alerts/{group_id}/context"
    return await theatre.http.get(url, headers={"Authorization": f"Bearer {SECRET}"})


async def one(theatre: Theatre, sql: str) -> Any:
    async with theatre.store.begin() as tx:
        return (await tx.session.execute(text(sql))).scalar_one()


@pytest.mark.proves("S3-38", "S3-49", "S3-50")
async def test_the_model_was_asked_with_the_pack_that_readers_get_and_nothing_else(
    playhouse: EmbeddedPostgres, tmp_path: Path
) -> None:
    async with played("01_clean", 2, playhouse, tmp_path) as theatre:
        reply = await context(theatre)
        stored = await one(theatre, "select body from packs")
        fence = await one(theatre, "select fence from triage_runs")
        kept = await one(theatre, "select request from llm_calls where kind = 'conclude'")
        found = json.loads(await one(theatre, "select body from findings"))
        sent = json.dumps(theatre.model.asked[0].body, ensure_ascii=False)
    assert (reply.status_code, reply.headers["x-caveat-complete"]) == (200, "true")
    assert reply.content == stored.encode()

    replayed = Pack.model_validate_json(reply.content)
    assert replayed.canonical().encode() == reply.content
    assert found["pack_hash"] == replayed.hash

    rule = TriageRule()
    offered = ModelRequest.model_validate_json(kept).tools
    assert {tool.name for tool in offered} == {
        "metrics_now", "metrics_over_time", "changes", "incidents",
    }  # fmt: skip
    setting = Setting(
        fence=fence, model=rule.model, metrics=True, tools=offered, loops=rule.max_loops
    )
    assert opening(replayed, setting, rule).canonical() == kept
    assert json.dumps(evidence(replayed, fence), ensure_ascii=False)[1:-1] in sent
    assert len(replayed.items) > 3
    for item in replayed.items:
        assert f'\\"field\\":\\"{item.id}\\"' in sent


@pytest.mark.proves("S3-9", "S3-10")
async def test_with_the_flag_off_facts_are_read_and_nothing_is_kept_for_a_model(
    playhouse: EmbeddedPostgres, tmp_path: Path
) -> None:
    async with played("flag_off", 2, playhouse, tmp_path) as theatre:
        reply = await context(theatre)
        counts = {
            table: await theatre.count(f"select count(*) from {table}")
            for table in ("fact_sheets", "packs", "llm_calls", "findings")
        }
        runs = await one(theatre, "select state || ' ' || (run ->> 'skip_reason') from triage_runs")
        asked = len(theatre.model.asked)
    assert counts == {"fact_sheets": 1, "packs": 0, "llm_calls": 0, "findings": 0}
    assert (asked, runs) == (0, "skipped flag_off")
    assert (reply.status_code, reply.headers["x-caveat-complete"]) == (200, "false")
    assert Pack.model_validate_json(reply.content).items
