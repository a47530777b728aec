"""The phrases of every enum a card shows; the engine emits enums, this page speaks."""

from collections.abc import Mapping, Sequence

from cards.figures import duration, per_cent, plain
from engine.model.alert import Severity
from engine.model.evidence import GapCause, InvalidReason, QueryOutcome
from engine.model.finding import CheckSource, Ruling, TrustLevel, Veto
from engine.model.ledger import ToolName
from engine.model.pack import (
    CanWait,
    ChangeKind,
    Impact,
    ImpactReason,
    SectionName,
    SuspectReason,
)
from engine.model.run import FailureClass, Run, SkipReason

SEVERITY: Mapping[Severity, str] = {
    Severity.CRITICAL: "CRITICAL",
    Severity.HIGH: "HIGH",
    Severity.WARNING: "WARNING",
    Severity.INFO: "INFO",
    Severity.UNKNOWN: "UNKNOWN SEVERITY",
}

TRUST: Mapping[TrustLevel, str] = {
    TrustLevel.VERIFIED: "verified",
    TrustLevel.UNCONFIRMED: "unconfirmed",
    TrustLevel.UNVERIFIED: "unverified",
}

CAN_WAIT: Mapping[CanWait, str] = {
    CanWait.NO: "No",
    CanWait.YES: "Yes",
    CanWait.UNKNOWN: "Unknown",
}

CAN_WAIT_SHORT: Mapping[CanWait, str] = {
    CanWait.NO: "can't wait",
    CanWait.YES: "can wait",
    CanWait.UNKNOWN: "unknown if it can wait",
}

SECTION: Mapping[SectionName, str] = {
    SectionName.ALERTS: "alerts",
    SectionName.HISTORY: "history",
    SectionName.METRICS: "metrics",
    SectionName.IMPACT: "impact",
    SectionName.LOGS: "logs",
    SectionName.CHANGES: "changes on the host",
    SectionName.DEPLOYS: "deploys",
    SectionName.CLOUD: "cloud changes",
    SectionName.UPSTREAM: "upstream services",
    SectionName.KUBERNETES: "Kubernetes events",
    SectionName.ZABBIX: "Zabbix",
    SectionName.RUNBOOK: "runbook",
    SectionName.PRIORS: "earlier resolutions",
}

GAP: Mapping[GapCause, str] = {
    GapCause.TIMED_OUT: "no answer in time",
    GapCause.UNREACHABLE: "not reachable",
    GapCause.REFUSED: "refused the question",
    GapCause.GARBLED: "answer not readable",
    GapCause.TOO_LARGE: "answer too large",
    GapCause.BREAKER_OPEN: "kept failing, not asked again yet",
    GapCause.NOT_LET_IN: "did not let us in",
    GapCause.TOO_OFTEN: "asked too often",
}

SUSPECT: Mapping[SuspectReason, str] = {
    SuspectReason.CHANGED_NEAR_ONSET: "changed close to when it began",
    SuspectReason.UPSTREAM_FIRING: "an upstream alert fires",
    SuspectReason.DEVIATED_BEFORE: "left its usual range first",
    SuspectReason.AT_ITS_LIMIT: "is at its limit",
    SuspectReason.CONFIG_CHANGED: "its configuration changed",
    SuspectReason.COMMON_DENOMINATOR: "is shared by what failed",
    SuspectReason.FIXED_IT_BEFORE: "was the cause last time",
    SuspectReason.CAUSE_ALERT: "its own alert fires",
}

CHANGE: Mapping[ChangeKind, str] = {
    ChangeKind.DEPLOY: "deploy",
    ChangeKind.IMAGE: "new image",
    ChangeKind.BUILD: "new build",
    ChangeKind.CONFIG: "configuration",
    ChangeKind.RESTART: "restart",
    ChangeKind.CLOUD: "cloud change",
    ChangeKind.OTHER: "change",
}

SKIP: Mapping[SkipReason, str] = {
    SkipReason.FLAG_OFF: "investigation is off for this client",
    SkipReason.MANUAL: "manual mode: it waits for a press",
    SkipReason.SEVERITY: "below the severity this room has investigated",
    SkipReason.STORM: "storm: too many incidents at once",
    SkipReason.BREAKER_OPEN: "the model provider refuses us; it is taken up once that is over",
    SkipReason.BUDGET: "budget spent until 00:00 UTC",
    SkipReason.NO_MODEL: "no model is configured",
    SkipReason.FIRST_CONTACT: "it already fired when the source was connected",
    SkipReason.CHRONIC_QUIET: "nothing new since the last finding",
    SkipReason.CLASS: "nothing is broken yet: there is no cause to look for",
}

VETO: Mapping[Veto, str] = {
    Veto.BEGAN_AFTER_ONSET: "the cause began after the problem did",
    Veto.NO_DEVIATION: "what is blamed shows no deviation",
    Veto.AS_STRONG_WITHOUT_CAUSE: "errors are as high where the cause is absent",
    Veto.STOOD_BEFORE_CAUSE: "the same symptom stood before the cause",
    Veto.ONLY_OWN_EXPRESSION: "only the alert's own expression was cited",
    Veto.ONLY_WRITABLE_TEXT: "only text that anyone can write names this cause",
    Veto.FLOOR_UNSCOPED: "peers were only checked across all targets",
    Veto.NOTHING_COULD_REFUTE: "no check made could have refuted this cause",
}

OUTCOME: Mapping[QueryOutcome, str] = {
    QueryOutcome.FETCHED: "answered",
    QueryOutcome.EMPTY: "nothing matched",
    QueryOutcome.DEGRADED: "no answer in time",
    QueryOutcome.FAILED: "backend could not answer",
    QueryOutcome.INVALID: "did not run",
}

INVALID: Mapping[InvalidReason, str] = {
    InvalidReason.SYNTAX: "malformed",
    InvalidReason.POLICY: "not allowed",
    InvalidReason.SCOPE: "could not be narrowed to this client",
    InvalidReason.BAD_DATA: "refused by the backend as malformed",
    InvalidReason.UNSURE: "could not be checked",
}

RULING: Mapping[Ruling, str] = {
    Ruling.SUPPORTED: "supported",
    Ruling.CONTRADICTED: "contradicted",
    Ruling.NEITHER: "no support in the evidence",
}

CHECK_SOURCE: Mapping[CheckSource, str] = {
    CheckSource.FLOOR: "always made",
    CheckSource.OPERATOR: "from a person's correction",
    CheckSource.MODEL: "chosen for this cause",
}

FAILURE: Mapping[FailureClass, str] = {
    FailureClass.TERMINAL: "the model provider refused the request",
    FailureClass.TRANSIENT: "the model provider did not answer after every retry",
    FailureClass.OPERATOR_ACTION_REQUIRED: (
        "the model account needs a person: credit, quota or permission"
    ),
    FailureClass.OPERATIONAL: "the model gateway is not working",
    FailureClass.BAD_MODEL_ALIAS_FALLBACK: "the configured model does not exist at the provider",
    FailureClass.POISON_PAYLOAD: "the job could not be read",
}
TOO_LONG = "the evidence is too long for the model, even shortened"


def failure(run: Run) -> str:
    """Why a run ended without a finding."""
    if run.failure_kind == "too_long":
        return TOO_LONG
    return FAILURE[run.failure] if run.failure else ""


def impact_reason(impact: Impact) -> str:
    """What decided whether it can wait, with its numbers."""
    match impact.reason:
        case ImpactReason.USERS_HIT:
            return _users_hit(impact)
        case ImpactReason.NO_ERRORS:
            return f"no request fails{_of_traffic(impact)}"
        case ImpactReason.TIME_LEFT | ImpactReason.SOON:
            return f"{IMPACT[impact.reason]}{_left(impact)}"
        case _:
            return IMPACT[impact.reason]


IMPACT: Mapping[ImpactReason, str] = {
    ImpactReason.USERS_HIT: "users are hit",
    ImpactReason.NO_TRAFFIC: "no traffic is served here now",
    ImpactReason.NO_ERRORS: "no request fails",
    ImpactReason.TIME_LEFT: "nothing is broken yet",
    ImpactReason.SOON: "it breaks before the morning",
    ImpactReason.BUDGET_BURNS: "the error budget burns too fast",
    ImpactReason.SELF_CLEARED: "it cleared by itself",
    ImpactReason.NOT_MEASURED: "who is hit was not measured",
}


def _users_hit(impact: Impact) -> str:
    if impact.error_share is None:
        return f"requests are slow or fail{_of_traffic(impact)}"
    return f"{per_cent(impact.error_share)} of requests fail{_of_traffic(impact)}"


def _of_traffic(impact: Impact) -> str:
    return "" if impact.traffic_per_s is None else f", {plain(impact.traffic_per_s)} requests/s"


def _left(impact: Impact) -> str:
    return "" if impact.until_s is None else f", {duration(impact.until_s)} left"


TOOL: Mapping[ToolName, str] = {
    ToolName.METRICS_NOW: "metrics",
    ToolName.METRICS_OVER_TIME: "metrics",
    ToolName.LOGS: "logs",
    ToolName.CHANGES: "changes",
    ToolName.INCIDENTS: "other incidents",
    ToolName.KUBERNETES_EVENTS: "Kubernetes events",
    ToolName.COMPLIANCE_FACTS: "compliance facts",
}


def looking(tools: Sequence[ToolName]) -> str:
    """Where a model looks now, the last place named, and where it looked before."""
    places = tuple(dict.fromkeys(TOOL[tool] for tool in reversed(tools)))
    now, before = places[0], places[:0:-1]
    seen = f"looked at {listed(before)}; " if before else ""
    return f"{seen}looking at {now}"


def listed(names: Sequence[str]) -> str:
    """Names as one says them."""
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))
