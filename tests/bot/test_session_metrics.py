"""Counters of sessions: all there from the first scrape, and no value outside their lists."""

import contextlib
import re
from typing import Any

import pytest

from bot.listen import SessionCounter
from bot.telemetry import METRICS, Telemetry
from engine.errors import (
    EngineError,
    OperatorActionRequiredError,
    TransientError,
    UnknownModelError,
)
from engine.model.event import SessionEvent
from engine.model.evidence import Gap, GapCause
from engine.model.run import SkipReason
from tests.engine.judged import UP, Table, a_run, abstaining, change, drafted, pack, ruled
from tests.fakes import FakeMetrics, ScriptedLLM, run

NAMES = [
    "triage_total", "triage_skipped_total", "triage_duration_seconds", "triage_trust_total",
    "triage_confidence", "triage_self_confidence", "triage_confidence_capped_total",
    "triage_verify_total", "triage_verify_duration_seconds", "triage_verify_retries_total",
    "triage_round_total", "triage_round_queries_total", "triage_promql_repair_total",
    "triage_operator_ruling_total", "triage_unsupported_claims_total", "triage_groundedness",
    "triage_scored_verdicts_total", "triage_ungrounded_demotions_total",
    "triage_ungrounded_tokens_total", "triage_abstentions_total", "triage_shortcircuit_total",
    "triage_change_cause_used_total", "triage_upstream_cause_used_total",
    "triage_pack_enrichment_degraded_total", "triage_pack_bytes", "triage_error_class_total",
    "triage_llm_error_total", "triage_dead_letter_total", "triage_model_fallback_total",
    "triage_marker_echo_total", "triage_veto_total", "llm_calls_total", "llm_tokens_total",
    "llm_cost_usd_total", "llm_cache_miss_total", "memory_verdict_total",
]  # fmt: skip


def series(telemetry: Telemetry) -> dict[str, float]:
    lines = telemetry.exposition().decode().splitlines()
    told = (line.rsplit(" ", 1) for line in lines if not line.startswith("#"))
    return {name: float(value) for name, value in told}


@pytest.mark.proves("S3-121", "S3-122", "S3-123", "S3-126", "S3-127", "S3-128", "S3-129")
def test_every_series_is_there_before_anything_happened() -> None:
    assert set(NAMES) <= {metric.name for metric in METRICS}
    seen = series(Telemetry())
    for metric in METRICS:
        suffix = "_count" if metric.buckets else ""
        own = [name for name in seen if re.match(rf"caveat_{metric.name}{suffix}(\{{|$)", name)]
        values = 1
        for each in metric.labels.values():
            values *= len(each)
        assert len(own) == values, metric.name
        assert all(seen[name] == 0 for name in own)


def desk(*replies: Any, metrics: Any = UP) -> Table:
    return Table(ScriptedLLM(list(replies)), metrics=FakeMetrics(metrics))


def sessions() -> list[Table]:
    gap = {"sum(up": Gap(cause=GapCause.TIMED_OUT), "db_pool": 1}
    nothing = ruled(cause=None, component=None, cause_class=None, confidence=None, rulings=[])
    return [
        desk(drafted(), ruled()),
        desk(drafted(), ruled("contradicted")),
        desk(drafted(), ruled(component="payments", cause_class="database")),
        desk(drafted(), nothing),
        desk(abstaining(), nothing),
        desk(drafted(), "no judgement", metrics=gap),
        desk(UnknownModelError("x"), UnknownModelError("x")),
        desk("nonsense", "nonsense"),
        desk(OperatorActionRequiredError("x", kind="billing")),
        desk(TransientError("x", kind="never heard of", echo=True)),
    ]


def test_whatever_happens_no_series_is_added() -> None:
    telemetry = Telemetry()
    before = set(series(telemetry))
    count = SessionCounter(telemetry, provider="gateway", basis="measured")
    for one in sessions():
        for case in (pack(), pack(change("D1", "checkout-api", 60))):
            replies = list(one.llm.replies)
            with contextlib.suppress(EngineError):
                one.triage(case)
            one.llm.replies = replies
        for kind, facts in one.told:
            run(count(a_run(), kind, facts))
    for reason in SkipReason:
        run(count(a_run(), SessionEvent.SKIPPED, {"reason": reason}))
    run(count(a_run(), SessionEvent.PACK, {"sections": "logs", "hash": "x", "bytes": 9000}))
    seen = series(telemetry)
    assert set(seen) == before
    assert seen['caveat_triage_llm_error_total{kind="balance",provider="gateway"}'] == 2
    assert seen['caveat_triage_llm_error_total{kind="unclassified",provider="gateway"}'] >= 2
    assert seen["caveat_triage_marker_echo_total"] == 2
    assert seen['caveat_triage_abstentions_total{reason="thin_pack"}'] == 2
    assert seen['caveat_triage_abstentions_total{reason="contradictory"}'] == 2
    assert seen['caveat_triage_change_cause_used_total{source="deploy"}'] >= 2
    assert seen['caveat_triage_veto_total{veto="began_after_onset"}'] >= 1
    assert seen['caveat_triage_unsupported_claims_total{kind="key"}'] >= 2
    assert seen["caveat_triage_pack_bytes_sum"] == 9000
