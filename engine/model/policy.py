"""Every threshold and bound of the engine, declared once; configuration and docs come from here."""

import re
from typing import Annotated, Self

from pydantic import BeforeValidator, Field, model_validator

from engine.model.base import Frozen

CHEAPER = 3
"""How many confirm passes must fit into one investigation, by each of its bounds."""
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


def seconds(value: object) -> object:
    """Read `300s`, `5m`, `168h`, `7d` as seconds; anything else is left to the type."""
    if isinstance(value, str) and (m := re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([smhd])\s*", value)):
        return float(m[1]) * _UNITS[m[2]]
    return value


Seconds = Annotated[float, BeforeValidator(seconds)]


class CorrelationRule(Frozen):
    """When alerts belong together."""

    labels: tuple[str, ...] = Field((), description="Replaces the derived failing scope.")
    host_labels: tuple[str, ...] = Field(
        ("instance", "host", "hostname", "node", "kubernetes_node"),
        description="Labels that name a host, first present wins; a port is cut off.",
    )
    settle_s: Seconds = Field(30, ge=0, description="Opening to triage; fixed, never sliding.")
    window_s: Seconds = Field(300, gt=0, description="How long alerts join after opening.")
    cause_join_s: Seconds = Field(3600, gt=0, description="How long a cause alert may join late.")
    storm_alerts: int = Field(20, gt=0, description="Alerts that make a storm,")
    storm_services: int = Field(5, gt=0, description="over at least this many services,")
    storm_window_s: Seconds = Field(300, gt=0, description="within this time.")
    common_denominator_min: int = Field(3, ge=2, description="Members sharing one thing.")
    common_denominator_s: Seconds = Field(120, gt=0, description="How close together they fell.")
    rejudge_gap_s: Seconds = Field(600, ge=0, description="Least time between judgements.")


class RecurrenceRule(Frozen):
    """When a re-fire is judged again and when it is only counted."""

    chronic_window_s: Seconds = Field(168 * 3600, gt=0, description="Look-back for chronic.")
    chronic_threshold: int = Field(3, ge=2, description="Occurrences that make chronic.")
    chronic_quiet: bool = Field(True, description="Chronic and nothing new: silent, no model.")
    chronic_finding_age_s: Seconds = Field(7 * 86400, gt=0, description="Finding still quotable.")
    fix_regression_window_s: Seconds = Field(
        48 * 3600, gt=0, description="Fix counts as regressed."
    )
    idle_s: Seconds = Field(
        1800, gt=0, description="No activity and nothing firing: a new incident."
    )
    new_scope_debounce_s: Seconds = Field(60, ge=0, description="Wait before judging a new scope.")
    cadence_factor: float = Field(8, gt=1, description="Newest gap times this under the median.")
    cadence_gaps: int = Field(20, ge=3, description="Gaps the median looks at.")
    cadence_min_gaps: int = Field(3, ge=2, description="Gaps needed to speak of cadence.")
    cap: int = Field(100, gt=0, description="Occurrences since the judgement.")
    ceiling_s: Seconds = Field(4 * 3600, gt=0, description="Age of the judgement.")
    flapping_transitions: int = Field(3, ge=2, description="Transitions that make flapping,")
    flapping_window_s: Seconds = Field(1800, gt=0, description="within this time.")
    flapping_quiet_s: Seconds = Field(900, gt=0, description="Quiet before green when flapping.")


class IncidentRule(Frozen):
    """How long an incident lives without news."""

    stale_ttl_s: Seconds = Field(6 * 3600, gt=0, description="No news: closed, not resolved.")
    reap_interval_s: Seconds = Field(900, gt=0, description="How often the reaper looks.")
    reconcile_s: Seconds = Field(300, gt=0, description="How often sources are asked who fires.")


class PackRule(Frozen):
    """How much looking there is before the model."""

    section_timeout_s: Seconds = Field(5, gt=0, description="One section.")
    timeout_s: Seconds = Field(8, gt=0, description="All sections together.")
    facts_card_s: Seconds = Field(1.5, gt=0, description="Commit to facts card.")
    window_before_s: Seconds = Field(3600, gt=0, description="Metrics before onset.")
    baseline_s: Seconds = Field(1800, gt=0, description="Baseline before onset.")
    change_window_s: Seconds = Field(4 * 3600, gt=0, description="Changes before onset.")
    max_series: int = Field(20, gt=0, description="Series digested per metric.")
    max_items: int = Field(12, gt=0, description="Items kept per section.")
    prior_distance: float = Field(
        0.3, ge=0, le=2, description="Cosine distance up to which an earlier case is shown."
    )
    max_priors: int = Field(3, ge=0, description="Earlier cases shown; 0: none.")
    suspect_floor: float = Field(0.35, ge=0, le=1, description="Below: no suspect stands out.")


class VerificationRule(Frozen):
    """The round between the two calls."""

    enabled: bool = Field(True, description="Kill switch: false is one call and no round.")
    max_queries: int = Field(4, ge=0, le=10, description="Model-chosen checks.")
    query_timeout_seconds: Seconds = Field(10, gt=0, description="All checks together.")
    max_rounds: int = Field(1, ge=1, le=1, description="Only 1 is accepted.")
    repair_max_output_tokens: int = Field(512, ge=1, le=512, description="The repair call.")
    parallel: int = Field(4, ge=1, description="Checks at once.")
    min_query_s: Seconds = Field(2, gt=0, description="Least time a check gets.")


class TrustRule(Frozen):
    """What a stamp needs."""

    min_confidence: float = Field(0.7, ge=0, le=1, description="For verified.")
    min_evidence: int = Field(2, ge=0, description="Citations when call 2 was lost.")


class GroundednessRule(Frozen):
    """The floor against fabrication."""

    floor: float = Field(0.7, ge=0, le=1, description="Below: a person looks at it.")
    min_indicators: int = Field(3, ge=1, description="Fewer demote only if none is found.")


class TriageRule(Frozen):
    """How much one triage may spend."""

    model: str = Field("claude-sonnet-5-5", description="Model asked first.")
    fallback_model: str = Field("claude-sonnet-5-5", description="Asked once on a bad name.")
    allowed_models: tuple[str, ...] = Field(
        (), description="Models that may be asked at all; empty: the two named here."
    )
    deadline: Seconds = Field(300, gt=0, description="Investigation, seconds.")
    token_budget: int = Field(120_000, gt=0, description="Investigation, tokens.")
    max_loops: int = Field(20, ge=0, description="Tool turns; 0 is the two-call flow.")
    verify_deadline: Seconds = Field(60, gt=0, description="Call 2, seconds.")
    verify_first_s: Seconds = Field(35, gt=0, description="Call 2's first attempt, seconds.")
    verify_token_budget: int = Field(8_000, gt=0, description="Call 2, tokens.")
    verify_max_retries: int = Field(1, ge=0, description="Call 2, retries on a time-out.")
    conclude_max_tokens: int = Field(4_000, gt=0, description="Call 1, output tokens.")
    call_timeout_s: Seconds = Field(60, gt=0, description="Any one model call.")
    memory_shortcircuit_distance: float = Field(
        0, ge=0, le=2, description="Cosine distance up to which memory may answer; 0: never."
    )
    memory_shortcircuit_embedding: str = Field(
        "", description="Embedding that distance is for; under another, memory never answers."
    )
    memory_held_s: Seconds = Field(
        48 * 3600, gt=0, description="How long after its fix a family must stay quiet."
    )
    confirm_deadline: Seconds = Field(60, gt=0, description="Confirming a memory, seconds.")
    confirm_token_budget: int = Field(15_000, gt=0, description="Confirming a memory, tokens.")
    confirm_max_loops: int = Field(2, ge=1, description="Confirming a memory, model turns.")
    max_deliveries: int = Field(35, ge=1, description="Then given up.")
    operational_nak_backoff: Seconds = Field(300, gt=0, description="Flat wait, seconds.")
    breaker_refusals: int = Field(3, ge=1, description="Refused keys in a row: nobody asks.")
    breaker_wait_s: Seconds = Field(300, gt=0, description="Then one trial; again on failure.")
    resume_gap_s: Seconds = Field(5, ge=0, description="Between incidents taken up again.")
    concurrency: int = Field(4, ge=1, description="Triages at once.")
    concurrency_per_client: int = Field(2, ge=1, description="Triages at once per client.")
    storm_waiting: int = Field(50, ge=1, description="Waiting incidents before giving up.")
    verification: VerificationRule = VerificationRule()
    trust: TrustRule = TrustRule()
    groundedness: GroundednessRule = GroundednessRule()

    @model_validator(mode="after")
    def _asks_allowed_models_only(self) -> Self:
        named = {"model": self.model, "fallback_model": self.fallback_model}
        strange = [name for name, model in named.items() if model not in self.allowed_models]
        if self.allowed_models and strange:
            told = ", ".join(f"{name} {named[name]!r}" for name in strange)
            raise ValueError(f"{told}: not among allowed_models ({', '.join(self.allowed_models)})")
        return self

    @model_validator(mode="after")
    def _confirming_is_cheap(self) -> Self:
        told = any(name.startswith("confirm_") for name in self.model_fields_set)
        if self.memory_shortcircuit_distance <= 0 and not told:
            return self
        pairs = {
            "confirm_deadline": (self.confirm_deadline, self.deadline),
            "confirm_token_budget": (self.confirm_token_budget, self.token_budget),
            "confirm_max_loops": (self.confirm_max_loops, max(self.max_loops, CHEAPER)),
        }
        dear = [name for name, (small, whole) in pairs.items() if small * CHEAPER > whole]
        if dear:
            raise ValueError(
                f"{', '.join(dear)}: give it at most a third of what an investigation may spend"
            )
        return self


class RecheckRule(Frozen):
    """Which findings are worth a second look."""

    threshold: float = Field(
        0.85, ge=0, le=1, description="Less sure than this, a finding is worth a second look."
    )


class Budget(Frozen):
    """What a client may spend a day (UTC)."""

    usd_per_day: float = Field(5, ge=0, description="On reaching it: facts cards only.")
    tokens_per_day: int = Field(2_000_000, ge=0, description="Input and output together.")
