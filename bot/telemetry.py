"""Counters and histograms, each declared once with every value its labels may take."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import product

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    disable_created_metrics,
    generate_latest,
)

from engine.groundedness.kinds import IndicatorKind
from engine.model.base import Frozen
from engine.model.correction import OperatorRuling
from engine.model.evidence import QueryOutcome
from engine.model.finding import (
    CheckSource,
    ConfidenceStepName,
    Disposition,
    MemoryVerdict,
    RoundOutcome,
    TriagePath,
    TrustLevel,
    VerifyStatus,
    Veto,
)
from engine.model.incident import AttachTrigger
from engine.model.ledger import ToolName
from engine.model.org import Platform
from engine.model.pack import SectionName
from engine.model.page import NoPage, NotPaged, PageAction, Paged, PageDecision
from engine.model.review import ReviewReason
from engine.model.run import CallKind, FailureClass, RunTrigger, SkipReason
from engine.ports import DeadReason, Queue
from engine.recheck import RecheckSkip
from engine.shortcircuit import ShortCircuit
from engine.telling import AbstentionReason, CauseSource
from engine.verification.table import CHECKS

disable_created_metrics()  # type: ignore[no-untyped-call]  # the library leaves it untyped


class Metric(Frozen):
    """One metric: its name without the prefix, what it says, and its labels' closed values."""

    name: str
    help: str
    labels: Mapping[str, tuple[str, ...]] = {}
    buckets: tuple[float, ...] | None = None
    """Set for a histogram."""
    gauge: bool = False


SOURCES = ("alertmanager", "prometheus", "changes")
ERROR_KINDS = (
    "rate_limit",
    "overloaded",
    "5xx",
    "timeout",
    "bad_request",
    "unknown_model",
    "balance",
    "budget",
    "auth",
    "refusal",
    "truncated",
    "parse",
    "unclassified",
)
PROVIDERS = ("anthropic", "gateway")
"""Who answers for the model: its own provider, or whatever stands at `model.base_url`."""
BASES = ("estimated", "measured")
"""Whether a cost comes from a price we assume or from a configured one."""
ROUTE = "route"
"""The reason of a page that was sent: an escalation route fits."""
_STAGES = (
    "pack",
    "loop",
    "confirm",
    "conclude",
    "validate",
    "contrast",
    "verify",
    "persist",
    "notify",
    "total",
)
BOUNDED = ("loop", "confirm", "verify")
_SECONDS = (0.05, 0.1, 0.25, 0.5, 1, 1.5, 2, 5, 10, 30, 60, 120, 300, 420)
_BYTES = (1_000, 4_000, 8_000, 16_000, 32_000, 64_000, 128_000, 256_000)
_SHARES = tuple(round(i / 20, 2) for i in range(1, 21))

METRICS: tuple[Metric, ...] = (
    Metric(
        name="alerts_received_total",
        help="Alerts received, by what became of them.",
        labels={
            "source": SOURCES,
            "status": ("firing", "resolved", "unknown"),
            "result": ("accepted", "duplicate", "malformed", "unauthorised"),
        },
    ),
    Metric(
        name="occurrences_attached_total",
        help="Re-fires, by what made them be judged again (none: only counted).",
        labels={"trigger": tuple(AttachTrigger)},
    ),
    Metric(
        name="incident_grouping_total",
        help="Firing alerts that opened an incident or joined one.",
        labels={"result": ("new", "joined")},
    ),
    Metric(name="incident_reaped_total", help="Incidents closed for lack of news."),
    Metric(
        name="incident_retriage_total",
        help="Incidents investigated again.",
        labels={"reason": ("escalation", "manual", "recurrence", "deadletter_resumed")},
    ),
    Metric(
        name="recurrence_total",
        help="Incidents that came back.",
        labels={"kind": ("chronic", "regression")},
    ),
    Metric(
        name="triage_total",
        help="Triages finished.",
        labels={
            "path": tuple(TriagePath),
            "disposition": tuple(Disposition),
            "trigger": tuple(RunTrigger),
        },
    ),
    Metric(
        name="triage_skipped_total",
        help="Triages that asked no model.",
        labels={"reason": tuple(SkipReason)},
    ),
    Metric(
        name="triage_duration_seconds",
        help="Time a stage took.",
        labels={"stage": _STAGES},
        buckets=_SECONDS,
    ),
    Metric(
        name="triage_trust_total",
        help="Findings by stamped trust level.",
        labels={"trust_level": tuple(TrustLevel)},
    ),
    Metric(name="triage_confidence", help="Calibrated confidence.", buckets=_SHARES),
    Metric(name="triage_self_confidence", help="The model's own number.", buckets=_SHARES),
    Metric(
        name="triage_confidence_capped_total",
        help="Steps that lowered a confidence.",
        labels={"step": tuple(ConfidenceStepName)},
    ),
    Metric(
        name="triage_investigation_loops",
        help="Turns in which a model asked for tools.",
        labels={"path": tuple(TriagePath)},
        buckets=(0, 1, 2, 3, 5, 8, 12, 16, 20),
    ),
    Metric(
        name="triage_tool_calls_total",
        help="Tool calls by how they ended; repeated ones were answered from the ledger.",
        labels={
            "tool": (*ToolName, "unknown"),
            "outcome": (*QueryOutcome, "repeated", "refused"),
        },
    ),
    Metric(
        name="triage_token_budget_exceeded_total",
        help="Stages stopped at their token limit.",
        labels={"stage": BOUNDED},
    ),
    Metric(
        name="triage_timeout_total",
        help="Stages stopped at their time limit.",
        labels={"stage": BOUNDED},
    ),
    Metric(
        name="triage_loop_limit_total",
        help="Stages stopped at their limit of turns.",
        labels={"stage": BOUNDED},
    ),
    Metric(
        name="triage_day_budget_reached_total",
        help="Stages stopped because the budget of the day was spent.",
        labels={"stage": BOUNDED},
    ),
    Metric(
        name="triage_verify_total",
        help="Findings by verify status.",
        labels={"status": tuple(VerifyStatus)},
    ),
    Metric(name="triage_verify_duration_seconds", help="Call 2.", buckets=_SECONDS),
    Metric(name="triage_verify_retries_total", help="Second attempts of call 2."),
    Metric(
        name="triage_round_total",
        help="Rounds by outcome.",
        labels={"outcome": tuple(RoundOutcome)},
    ),
    Metric(
        name="triage_round_queries_total",
        help="Contrast checks by who asked and how they ended.",
        labels={
            "source": tuple(CheckSource),
            "kind": tuple(CHECKS),
            "outcome": tuple(QueryOutcome),
        },
    ),
    Metric(
        name="triage_shortcircuit_total",
        help="What became of the way past the investigation.",
        labels={"result": tuple(ShortCircuit)},
    ),
    Metric(
        name="triage_promql_repair_total",
        help="Repair calls by what became of the broken queries.",
        labels={"result": ("fixed", "partly", "failed", "rejected_changed_meaning")},
    ),
    Metric(
        name="triage_operator_ruling_total",
        help="Triages that a person's correction governed, by what the judgement said of it.",
        labels={"ruling": tuple(OperatorRuling), "backed": ("true", "false")},
    ),
    Metric(
        name="triage_unsupported_claims_total",
        help="Claims the evidence did not back.",
        labels={"kind": ("key", "other")},
    ),
    Metric(
        name="triage_groundedness",
        help="Share of what a verdict names that the evidence holds; no measure of being right.",
        buckets=_SHARES,
    ),
    Metric(name="triage_scored_verdicts_total", help="Verdicts that named something checkable."),
    Metric(
        name="triage_ungrounded_demotions_total",
        help="Verdicts demoted because the evidence does not hold what they name.",
        labels={"would_have_acted": ("true", "false")},
    ),
    Metric(
        name="triage_ungrounded_tokens_total",
        help="What demoted verdicts named and the evidence does not hold.",
        labels={"kind": tuple(IndicatorKind)},
    ),
    Metric(
        name="review_items_total",
        help="Things people were asked to look at.",
        labels={"reason": tuple(ReviewReason)},
    ),
    Metric(
        name="review_items_open",
        help="Things people have to look at now.",
        labels={"reason": tuple(ReviewReason)},
        gauge=True,
    ),
    Metric(name="review_items_expired_total", help="Things nobody looked at in time."),
    Metric(
        name="triage_abstentions_total",
        help="Triages in which both calls declined.",
        labels={"reason": tuple(AbstentionReason)},
    ),
    Metric(
        name="triage_change_cause_used_total",
        help="Causes that rest on a change, by what told it.",
        labels={"source": (CauseSource.HOST, CauseSource.DEPLOY, CauseSource.CLOUD)},
    ),
    Metric(name="triage_upstream_cause_used_total", help="Causes that rest on a dependency."),
    Metric(
        name="memory_verdict_total",
        help="What judgements meant for a recalled case.",
        labels={"verdict": (*MemoryVerdict, "withheld_degraded")},
    ),
    Metric(name="triage_pack_bytes", help="Size of frozen packs.", buckets=_BYTES),
    Metric(name="triage_veto_total", help="Vetoes.", labels={"veto": tuple(Veto)}),
    Metric(
        name="triage_pack_enrichment_degraded_total",
        help="Packs frozen with a section missing.",
        labels={"section": tuple(SectionName)},
    ),
    Metric(
        name="triage_error_class_total",
        help="Failed deliveries by class.",
        labels={"class": tuple(FailureClass)},
    ),
    Metric(
        name="triage_llm_error_total",
        help="Model calls that failed, by what the provider did.",
        labels={"provider": PROVIDERS, "kind": ERROR_KINDS},
    ),
    Metric(name="triage_model_fallback_total", help="Model names the provider did not know."),
    Metric(
        name="triage_marker_echo_total",
        help="Errors whose telling words were our own, given back.",
    ),
    Metric(
        name="triage_dead_letter_total",
        help="Given up.",
        labels={"reason": tuple(DeadReason)},
    ),
    Metric(
        name="page_total",
        help="Decisions on paging somebody, and why nobody was paged (route: somebody was).",
        labels={"result": ("paged", "not_paged"), "reason": (ROUTE, *NoPage)},
    ),
    Metric(
        name="page_sends_total",
        help="What pagers were told, by what became of it.",
        labels={"action": tuple(PageAction), "result": ("sent", "later", "dead")},
    ),
    Metric(
        name="card_audible_total",
        help="Messages that could ring.",
        labels={"platform": tuple(Platform), "kind": ("card", "thread")},
    ),
    Metric(
        name="facts_card_seconds",
        help="Commit of the alert to the facts card being accepted by the chat.",
        buckets=_SECONDS,
    ),
    Metric(
        name="charts_total",
        help="Charts below cards, by what became of them.",
        labels={
            "platform": tuple(Platform),
            "result": ("sent", "unchanged", "left_out", "not_drawn", "refused", "lost", "later"),
        },
    ),
    Metric(
        name="chat_messages_total",
        help="Messages sent.",
        labels={
            "platform": tuple(Platform),
            "kind": ("card", "edit", "thread", "notice"),
            "result": ("sent", "unchanged", "folded", "repeated", "refused", "later", "dead"),
        },
    ),
    Metric(
        name="recheck_skipped_total",
        help="Findings that are not looked at a second time.",
        labels={"reason": tuple(RecheckSkip)},
    ),
    Metric(
        name="engage_requests_total",
        help="Questions asked in rooms, by how they ended.",
        labels={
            "result": (
                "answered",
                "empty_room",
                "not_bound",
                "unknown_person",
                "out_of_scope",
                "rate_limited",
                "budget",
            )
        },
    ),
    Metric(
        name="llm_calls_total",
        help="Model calls.",
        labels={
            "call": tuple(CallKind),
            "provider": PROVIDERS,
            "result": ("ok", "failed"),
        },
    ),
    Metric(
        name="llm_tokens_total",
        help="Tokens as the provider counted them.",
        labels={
            "call": tuple(CallKind),
            "provider": PROVIDERS,
            "kind": ("input", "output", "cache_write", "cache_read"),
        },
    ),
    Metric(
        name="llm_cost_usd_total",
        help="Cost.",
        labels={"call": tuple(CallKind), "provider": PROVIDERS, "basis": BASES},
    ),
    Metric(
        name="llm_cache_miss_total",
        help="Second calls that read nothing from the cache.",
        labels={"provider": PROVIDERS},
    ),
    Metric(
        name="queue_redeliveries_total",
        help="Deliveries after the first.",
        labels={"queue": tuple(Queue)},
    ),
    Metric(name="queue_depth", help="Jobs due.", labels={"queue": tuple(Queue)}, gauge=True),
    Metric(
        name="queue_oldest_age_seconds",
        help="Age of the oldest due job.",
        labels={"queue": tuple(Queue)},
        gauge=True,
    ),
)


class Telemetry:
    """Every metric of one process, initialised so that zero and absent differ."""

    def __init__(self, metrics: Sequence[Metric] = METRICS) -> None:
        """Register everything and set each label value to zero."""
        self.registry = CollectorRegistry()
        self._all = {m.name: self._made(m) for m in metrics}

    def _made(self, metric: Metric) -> Counter | Gauge | Histogram:
        name, labels = f"caveat_{metric.name}", list(metric.labels)
        made: Counter | Gauge | Histogram
        if metric.buckets:
            made = Histogram(
                name, metric.help, labels, registry=self.registry, buckets=metric.buckets
            )
        elif metric.gauge:
            made = Gauge(name, metric.help, labels, registry=self.registry)
        else:
            made = Counter(name, metric.help, labels, registry=self.registry)
        if labels:
            for values in product(*metric.labels.values()):
                made.labels(*values)
        return made

    def count(self, name: str, amount: float = 1, **labels: str) -> None:
        """Add to a counter."""
        metric = self._all[name]
        bound = metric.labels(**labels) if labels else metric
        if not isinstance(bound, Counter):
            raise TypeError(f"{name} is no counter")
        bound.inc(amount)

    def observe(self, name: str, value: float, **labels: str) -> None:
        """Add a value to a histogram."""
        metric = self._all[name]
        bound = metric.labels(**labels) if labels else metric
        if not isinstance(bound, Histogram):
            raise TypeError(f"{name} is no histogram")
        bound.observe(value)

    def set(self, name: str, value: float, **labels: str) -> None:
        """Set a gauge."""
        metric = self._all[name]
        bound = metric.labels(**labels) if labels else metric
        if not isinstance(bound, Gauge):
            raise TypeError(f"{name} is no gauge")
        bound.set(value)

    def exposition(self) -> bytes:
        """Everything in Prometheus' text format."""
        return generate_latest(self.registry)


def count_pages(telemetry: Telemetry, decisions: Iterable[PageDecision]) -> None:
    """Count who was paged, and why nobody was."""
    for one in decisions:
        match one:
            case Paged():
                telemetry.count("page_total", result="paged", reason=ROUTE)
            case NotPaged(reason=reason):
                telemetry.count("page_total", result="not_paged", reason=reason.value)
