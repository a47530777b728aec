"""Turns the steps of a session into counters."""

from collections.abc import Callable, Mapping

from bot.backends.failing.verdict import Category
from bot.telemetry import BASES, PROVIDERS, Telemetry
from engine.model.event import EventFacts, SessionEvent
from engine.model.finding import TriagePath, VerifyStatus
from engine.model.ledger import Bound
from engine.model.run import Run
from engine.telling import CauseSource

Count = Callable[[Telemetry, Run, EventFacts], None]


ERROR_KIND: Mapping[str, str] = {
    Category.RATE_LIMIT: "rate_limit",
    Category.OVERLOADED: "overloaded",
    Category.CAPACITY: "overloaded",
    Category.SERVER: "5xx",
    Category.SERVER_PAGE: "5xx",
    Category.UNREACHABLE: "5xx",
    Category.STREAM_CUT: "truncated",
    Category.TRUNCATED: "truncated",
    Category.TIMEOUT: "timeout",
    Category.BAD_REQUEST: "bad_request",
    Category.TOO_LONG: "bad_request",
    Category.TOO_LARGE: "bad_request",
    Category.TOOL_PAIRING: "bad_request",
    Category.TOOL_SCHEMA: "bad_request",
    Category.EMPTY_INPUT: "bad_request",
    Category.ECHO: "bad_request",
    Category.MODEL: "unknown_model",
    Category.BILLING: "balance",
    Category.BUDGET: "budget",
    Category.AUTH: "auth",
    Category.CONTENT_FILTER: "refusal",
    Category.REFUSAL: "refusal",
    Category.NO_MESSAGE: "parse",
    Category.EMPTY: "parse",
}
"""What a kind of error is counted under; the rest is not classified."""


def _stage(telemetry: Telemetry, _: Run, facts: EventFacts) -> None:
    seconds = float(facts["seconds"] or 0)
    telemetry.observe("triage_duration_seconds", seconds, stage=str(facts["stage"]))
    if facts["stage"] == "verify":
        telemetry.observe("triage_verify_duration_seconds", seconds)


def _skipped(telemetry: Telemetry, _: Run, facts: EventFacts) -> None:
    telemetry.count("triage_skipped_total", reason=str(facts["reason"]))


def _pack(telemetry: Telemetry, _: Run, facts: EventFacts) -> None:
    telemetry.observe("triage_pack_bytes", float(facts.get("bytes") or 0))
    for section in filter(None, str(facts["sections"]).split(",")):
        telemetry.count("triage_pack_enrichment_degraded_total", section=section)


def _call(telemetry: Telemetry, _: Run, facts: EventFacts) -> None:
    call = str(facts["call"])
    who = {"call": call, "provider": str(facts["provider"])}
    telemetry.count("llm_calls_total", 1, **who, result=str(facts["result"]))
    if facts.get("error_kind") is not None:
        kind = ERROR_KIND.get(str(facts["error_kind"]), "unclassified")
        telemetry.count("triage_llm_error_total", provider=who["provider"], kind=kind)
    if facts.get("echo"):
        telemetry.count("triage_marker_echo_total")
    tokens = {
        "input": "input_tokens",
        "output": "output_tokens",
        "cache_write": "cache_creation_input_tokens",
        "cache_read": "cache_read_input_tokens",
    }
    for kind, name in tokens.items():
        telemetry.count("llm_tokens_total", float(facts.get(name) or 0), **who, kind=kind)
    cost_usd = float(facts.get("cost_usd") or 0)
    telemetry.count("llm_cost_usd_total", cost_usd, **who, basis=str(facts["basis"]))


def _query(telemetry: Telemetry, _: Run, facts: EventFacts) -> None:
    telemetry.count(
        "triage_round_queries_total",
        source=str(facts["source"]),
        kind=str(facts["check"]),
        outcome=str(facts["outcome"]),
    )


def _ruling(telemetry: Telemetry, _: Run, facts: EventFacts) -> None:
    telemetry.count(
        "triage_operator_ruling_total",
        ruling=str(facts["ruling"]),
        backed=str(facts["backed"]).lower(),
    )


def _draft(telemetry: Telemetry, _: Run, facts: EventFacts) -> None:
    if facts.get("self_confidence") is not None:
        telemetry.observe("triage_self_confidence", float(facts["self_confidence"] or 0))


def _loop(telemetry: Telemetry, _: Run, facts: EventFacts) -> None:
    loop = facts["stage"] == "loop"
    path = TriagePath.FULL if loop else TriagePath.SHORT_CIRCUIT
    telemetry.observe("triage_investigation_loops", float(facts["loops"] or 0), path=path)
    if facts["loops"] and loop:
        seconds = float(facts["seconds"] or 0)
        telemetry.observe("triage_duration_seconds", seconds, stage="loop")
    if facts["bound"] in BOUNDS:
        telemetry.count(BOUNDS[str(facts["bound"])], stage=str(facts["stage"]))


BOUNDS: Mapping[str, str] = {
    Bound.TOKENS: "triage_token_budget_exceeded_total",
    Bound.DEADLINE: "triage_timeout_total",
    Bound.LOOPS: "triage_loop_limit_total",
    Bound.BUDGET: "triage_day_budget_reached_total",
}


def _verify(telemetry: Telemetry, _: Run, facts: EventFacts) -> None:
    telemetry.count("triage_verify_total", status=str(facts["status"]))
    if facts["status"] == VerifyStatus.TIMED_OUT:
        telemetry.count("triage_timeout_total", stage="verify")


def _grounded(telemetry: Telemetry, _: Run, facts: EventFacts) -> None:
    telemetry.observe("triage_groundedness", float(facts["score"] or 0))
    telemetry.count("triage_scored_verdicts_total")
    if not facts["demoted"]:
        return
    acted = "true" if facts["would_have_acted"] else "false"
    telemetry.count("triage_ungrounded_demotions_total", would_have_acted=acted)
    for kind in filter(None, str(facts["kinds"]).split(",")):
        telemetry.count("triage_ungrounded_tokens_total", kind=kind)


def _stamp(telemetry: Telemetry, run: Run, facts: EventFacts) -> None:
    disposition = str(facts["disposition"])
    telemetry.count("triage_trust_total", trust_level=str(facts["trust_level"]))
    telemetry.count(
        "triage_total",
        path=str(facts["path"]),
        disposition=disposition,
        trigger=run.trigger.value,
    )
    if facts["confidence"] is not None:
        telemetry.observe("triage_confidence", float(facts["confidence"]))
    if facts["abstention"] is not None:
        telemetry.count("triage_abstentions_total", reason=str(facts["abstention"]))
    if facts["memory"] is not None:
        telemetry.count("memory_verdict_total", verdict=str(facts["memory"]))
    for source in filter(None, str(facts["cause_sources"]).split(",")):
        if source == CauseSource.UPSTREAM:
            telemetry.count("triage_upstream_cause_used_total")
        else:
            telemetry.count("triage_change_cause_used_total", source=source)
    telemetry.count("triage_shortcircuit_total", result=str(facts["shortcircuit"]))
    key, every = float(facts["unsupported_key"] or 0), float(facts["unsupported"] or 0)
    telemetry.count("triage_unsupported_claims_total", key, kind="key")
    telemetry.count("triage_unsupported_claims_total", every - key, kind="other")


COUNTS: Mapping[SessionEvent, Count] = {
    SessionEvent.SKIPPED: _skipped,
    SessionEvent.PACK: _pack,
    SessionEvent.STAGE: _stage,
    SessionEvent.CALL: _call,
    SessionEvent.FALLBACK: lambda t, _, __: t.count("triage_model_fallback_total"),
    SessionEvent.CACHE_MISS: lambda t, _, f: t.count(
        "llm_cache_miss_total", provider=str(f["provider"])
    ),
    SessionEvent.TOOL: lambda t, _, f: t.count(
        "triage_tool_calls_total", tool=str(f["tool"]), outcome=str(f["outcome"])
    ),
    SessionEvent.LOOP: _loop,
    SessionEvent.DRAFT: _draft,
    SessionEvent.QUERY: _query,
    SessionEvent.REPAIR: lambda t, _, f: t.count(
        "triage_promql_repair_total", result=str(f["result"])
    ),
    SessionEvent.OPERATOR_RULING: _ruling,
    SessionEvent.ROUND: lambda t, _, f: t.count("triage_round_total", outcome=str(f["outcome"])),
    SessionEvent.VERIFY_RETRY: lambda t, _, __: t.count("triage_verify_retries_total"),
    SessionEvent.VERIFY: _verify,
    SessionEvent.GROUNDED: _grounded,
    SessionEvent.STEP: lambda t, _, f: t.count(
        "triage_confidence_capped_total", step=str(f["step"])
    ),
    SessionEvent.VETO: lambda t, _, f: t.count("triage_veto_total", veto=str(f["veto"])),
    SessionEvent.FAILED: lambda t, _, f: t.count(
        "triage_error_class_total", 1, **{"class": str(f["class"])}
    ),
    SessionEvent.REVIEW: lambda t, _, f: t.count("review_items_total", reason=str(f["reason"])),
    SessionEvent.RECHECK: lambda t, _, f: t.count(
        "recheck_skipped_total", reason=str(f["skipped"])
    ),
    SessionEvent.STAMP: _stamp,
}


class SessionCounter:
    """Listens to every session of one process."""

    def __init__(
        self, telemetry: Telemetry, *, provider: str = PROVIDERS[0], basis: str = BASES[0]
    ) -> None:
        """Count into `telemetry`.

        Args:
            telemetry: where to.
            provider: who answers for the model.
            basis: whether costs come from a configured price or from one we assume.
        """
        self._telemetry = telemetry
        self._known: EventFacts = {"provider": provider, "basis": basis}

    async def __call__(self, run: Run, kind: SessionEvent, facts: EventFacts) -> None:
        """Count one step; steps that nobody counts are left alone."""
        count = COUNTS.get(kind)
        if count is not None:
            count(self._telemetry, run, {**facts, **self._known})
