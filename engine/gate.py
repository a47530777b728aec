"""Whether a model may be asked at all. Decides about investigating only, never about paging."""

from engine.model.alert import AlertClass, Severity
from engine.model.base import Frozen
from engine.model.incident import Incident
from engine.model.org import Flags, RoomTriage
from engine.model.run import RunTrigger, SkipReason

_LEAST_RANK = {RoomTriage.CRITICAL: Severity.HIGH.rank, RoomTriage.WARNING: Severity.WARNING.rank}
_NO_CAUSE_YET = frozenset({AlertClass.PREDICTIVE, AlertClass.MONITORING_GAP, AlertClass.HEARTBEAT})


class GateFacts(Frozen):
    """What is true at the moment the job runs; everything unknown counts as no."""

    flags: Flags | None
    """Read afresh; None when they could not be read."""
    rooms: tuple[RoomTriage, ...]
    """What the rooms the card goes to want investigated."""
    trigger: RunTrigger
    model_configured: bool
    breaker_open: bool = False
    budget_spent: bool = False
    waiting: int = 0
    """Incidents already waiting for a model."""
    storm_waiting: int
    """How many may wait."""
    chronic_quiet: bool = False
    """Chronic, nothing new, and a recent finding to quote."""


def gate(incident: Incident, facts: GateFacts) -> SkipReason | None:
    """Give the first reason not to ask a model; None lets the triage run.

    A press stands for the person's own choice of what is worth a look. It does not stand for a
    flag, a model, a breaker or money.
    """
    if facts.flags is None or not facts.flags.ai_triage:
        return SkipReason.FLAG_OFF
    if facts.trigger in {RunTrigger.AUTO, RunTrigger.REJUDGE}:
        unasked = _unasked(incident, facts, facts.flags)
        if unasked is not None:
            return unasked
    if not facts.model_configured:
        return SkipReason.NO_MODEL
    if facts.breaker_open:
        return SkipReason.BREAKER_OPEN
    return SkipReason.BUDGET if facts.budget_spent else None


def _unasked(incident: Incident, facts: GateFacts, flags: Flags) -> SkipReason | None:
    """Give the reason why nobody wants this looked at by itself."""
    if flags.ai_triage_manual:
        return SkipReason.MANUAL
    if incident.first_contact:
        return SkipReason.FIRST_CONTACT
    if incident.alert_class in _NO_CAUSE_YET:
        return SkipReason.CLASS
    if facts.chronic_quiet:
        return SkipReason.CHRONIC_QUIET
    if not any(_wants(room, incident.severity) for room in facts.rooms):
        return SkipReason.SEVERITY
    return SkipReason.STORM if facts.waiting >= facts.storm_waiting else None


def _wants(room: RoomTriage, severity: Severity) -> bool:
    return room is not RoomTriage.OFF and severity.rank >= _LEAST_RANK[room]
