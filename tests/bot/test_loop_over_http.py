"""The loop against both doubles over loopback: what is sent is taken, and the cache is read."""

import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from bot.backends.anthropic import AnthropicModel, connect
from bot.backends.clock import SystemClock
from bot.backends.http import BoundedHttp
from bot.drill.doubles.anthropic import MessagesDouble
from bot.drill.doubles.anthropic_replies import Message, calls, in_order, text
from bot.drill.doubles.prometheus import MetricsDouble
from bot.drill.doubles.serve import serve
from bot.tools.prometheus import PrometheusSettings, PrometheusTool
from engine.model.finding import Finding
from engine.model.llm import Capabilities
from engine.model.policy import TriageRule
from engine.triage import judge
from tests.engine.judged import SCOPE, Table, a_run, drafted, incident, pack, ruled
from tests.fakes import ScriptedLLM

QUERY = 'max by (pod) (db_pool_in_use{service="checkout-api"})'
LOOKS = (
    calls(("metrics_now", {"query": QUERY}), ("no such tool", {}), said="Both at once."),
    calls(("metrics_over_time", {"query": QUERY}), ("metrics_now", {"query": QUERY})),
)
CLAIMS = [{"text": "the pool is full", "evidence_ids": ["T2"], "key": True}]


async def triaged(*replies: Message, able: Capabilities | None = None) -> tuple[
    Finding, MessagesDouble
]:  # fmt: skip
    metrics = MetricsDouble(lambda: datetime.now(UTC))
    for n in range(3):
        metrics.plant("up", {**SCOPE, "instance": f"i{n}"}, 1.0)
    metrics.plant("db_pool_in_use", {**SCOPE, "pod": "a"}, 20.0)
    model = MessagesDouble(lambda: datetime.now(UTC), in_order(*replies))
    clock = SystemClock()
    async with serve(metrics.app) as metrics_url, serve(model.app) as model_url:
        settings = PrometheusSettings(url=metrics_url)
        http = BoundedHttp(settings, clock)
        client = connect(key="sk-rehearsal", base_url=model_url)
        llm = AnthropicModel(client, able or Capabilities())
        table = Table(ScriptedLLM([]), metrics=PrometheusTool(http, settings, clock))
        ports = replace(table.ports, llm=llm, clock=clock)
        found = await judge(
            a_run(), incident(), pack(), ports, rule=TriageRule(), progress=table.heard
        )
        await client.close()
        await http.close()
    return found, model


@pytest.mark.proves("S0-70", "S3-51")
async def test_every_turn_is_taken_and_reads_what_the_one_before_wrote() -> None:
    found, model = await triaged(*LOOKS, text(drafted(claims=CLAIMS)), text(ruled(cites=("T2",))))
    assert [asked.refusal for asked in model.asked] == [""] * 4
    assert [entry.id for entry in found.ledger] == ["T1", "T2"]
    assert "20 {pod=a}" in found.ledger[0].text
    assert found.valid_citations == 1
    charges = [asked.charge for asked in model.asked if asked.charge is not None]
    written = 0
    for charge in charges:
        assert charge.read == written
        written = charge.read + charge.written_5m
    assert all(charge.read for charge in charges[1:])


async def test_a_gateway_without_structured_output_gets_the_same_as_one_more_tool() -> None:
    able = Capabilities(structured_output=False, prompt_cache=False)
    said = (drafted(claims=CLAIMS), ruled(cites=("T2",)))
    concluding = [calls(("conclude", json.loads(reply))) for reply in said]
    found, model = await triaged(*LOOKS, *concluding, able=able)
    assert [asked.refusal for asked in model.asked] == [""] * 4
    assert {tuple(t["name"] for t in asked.body["tools"]) for asked in model.asked} == {
        ("metrics_now", "metrics_over_time", "changes", "incidents", "conclude")
    }
    assert found.root_cause is not None
