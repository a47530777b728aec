"""What becomes of an incident over time: recurrence, chronic, flapping, green, stale."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from itertools import pairwise
from statistics import median

from engine.model.alert import Severity
from engine.model.base import Frozen
from engine.model.incident import AttachTrigger, Incident, IncidentState, MemberState
from engine.model.policy import IncidentRule, RecurrenceRule
from engine.model.standing import Flip

HEARTBEAT_FACTOR = 2.5
HEARTBEAT_FLOOR_S = 300.0
"""A heartbeat is never missed sooner than this, however often it came."""
HEARTBEAT_UNKNOWN_S = 6 * 3600.0
"""Wait for the second beat of one that came once: senders repeat as rarely as every 4 h."""


class Recurrence(StrEnum):
    """What a firing of a known family is."""

    SLIDE = "slide"
    """The same alert still fires: only its last sight moves."""
    NEW = "new"
    """A new episode: an incident of its own."""
    ATTACH = "attach"


class Judged(Frozen):
    """What the last judgement of an incident had seen."""

    rules: frozenset[str]
    scopes: frozenset[str]
    age_s: float
    since: int
    """Recurrences counted since."""


class Again(Frozen):
    """A firing alert against the incident that holds its family."""

    same_firing: bool = False
    """Its own fingerprint is known to fire."""
    any_firing: bool = False
    """Some member is known to fire."""
    idle_s: float = 0
    """Since the incident's last activity."""
    severity: Severity
    highest: Severity
    """The highest of the members."""
    rule: str
    scopes: frozenset[str] = frozenset()
    judged: Judged | None = None
    """None until a finding exists; then only escalation matters."""
    gaps_s: tuple[float, ...] = ()
    """Between the family's episodes, oldest first, the newest one last."""


def recur(again: Again, rule: RecurrenceRule) -> tuple[Recurrence, AttachTrigger]:
    """Decide what a firing of a known family is; the first rule that applies wins."""
    if again.same_firing:
        return Recurrence.SLIDE, AttachTrigger.NONE
    if again.idle_s > rule.idle_s and not again.any_firing:
        return Recurrence.NEW, AttachTrigger.NONE
    if again.severity.rank > again.highest.rank:
        return Recurrence.ATTACH, AttachTrigger.SEVERITY
    if again.judged is None:
        return Recurrence.ATTACH, AttachTrigger.NONE
    return Recurrence.ATTACH, _judge_again(again, again.judged, rule)


def _judge_again(again: Again, judged: Judged, rule: RecurrenceRule) -> AttachTrigger:
    if again.rule not in judged.rules:
        return AttachTrigger.NEW_RULE
    if again.scopes - judged.scopes:
        return AttachTrigger.NEW_SCOPE
    if faster(again.gaps_s, rule):
        return AttachTrigger.CADENCE
    if judged.since + 1 >= rule.cap:
        return AttachTrigger.CAP
    if judged.age_s > rule.ceiling_s:
        return AttachTrigger.CEILING
    return AttachTrigger.NONE


def faster(gaps_s: Sequence[float], rule: RecurrenceRule) -> bool:
    """Whether the newest gap is far below the usual one."""
    if not gaps_s:
        return False
    *before, newest = gaps_s
    usual = before[-rule.cadence_gaps :]
    if len(usual) < rule.cadence_min_gaps:
        return False
    return newest * rule.cadence_factor < median(usual)


def rejudge_delay_s(
    incident: Incident, trigger: AttachTrigger, now: datetime, gap_s: float, rule: RecurrenceRule
) -> float:
    """Seconds until an incident may be judged (again): settled, debounced, not too often."""
    new_thing = trigger in {AttachTrigger.NEW_RULE, AttachTrigger.NEW_SCOPE}
    delay_s = rule.new_scope_debounce_s if new_thing else 0.0
    due_at = incident.settle_at
    if incident.judged_at is not None:
        due_at = incident.judged_at + timedelta(seconds=gap_s)
    return max(delay_s, (due_at - now).total_seconds(), 0.0)


@dataclass
class GroupLog:
    """When a family's episodes began and ended, read off its members' transitions."""

    rises: list[datetime] = field(default_factory=list)
    """Starts of episodes: a member fires and no other did."""
    turns: list[datetime] = field(default_factory=list)
    """Starts and ends of episodes."""
    firing: set[str] = field(default_factory=set)

    def take(self, flip: Flip) -> None:
        """Follow one transition; they come oldest first."""
        was = bool(self.firing)
        if flip.to_state is MemberState.FIRING:
            self.firing.add(flip.fingerprint)
        else:
            self.firing.discard(flip.fingerprint)
        if bool(self.firing) == was:
            return
        self.turns.append(flip.at)
        if self.firing:
            self.rises.append(flip.at)

    def gaps_s(self, now: datetime) -> tuple[float, ...]:
        """Seconds between episodes, the last one ending now; none while one goes on."""
        if self.firing:
            return ()
        starts = [*self.rises, now]
        return tuple((b - a).total_seconds() for a, b in pairwise(starts))


def group_log(flips: Iterable[Flip]) -> GroupLog:
    """Follow a family's transitions, oldest first."""
    log = GroupLog()
    for flip in flips:
        log.take(flip)
    return log


def _within(moments: Iterable[datetime], now: datetime, window_s: float) -> int:
    since = now - timedelta(seconds=window_s)
    return sum(since < moment <= now for moment in moments)


def chronic(rises: Iterable[datetime], now: datetime, rule: RecurrenceRule) -> bool:
    """Whether a family's episodes, the present one among them, are too many for the window."""
    return _within(rises, now, rule.chronic_window_s) >= rule.chronic_threshold


def flapping(turns: Iterable[datetime], now: datetime, rule: RecurrenceRule) -> bool:
    """Whether a family comes and goes too often to believe its recovery at once."""
    return _within(turns, now, rule.flapping_window_s) >= rule.flapping_transitions


def regressed(fixed_at: datetime | None, now: datetime, rule: RecurrenceRule) -> bool:
    """Whether a fresh occurrence comes so soon after a fix that the fix did not hold."""
    if fixed_at is None or fixed_at > now:
        return False
    return (now - fixed_at).total_seconds() <= rule.fix_regression_window_s


def chronic_quiet(
    incident: Incident,
    *,
    found_at: datetime | None,
    found_severity: Severity | None,
    changed: bool,
    now: datetime,
    rule: RecurrenceRule,
) -> bool:
    """Whether a chronic incident may stay silent and quote its last finding.

    Args:
        incident: the incident at hand.
        found_at: when the family's last finding was made; None if there is none.
        found_severity: the severity that finding was about.
        changed: whether anything changed since that finding.
        now: the moment of deciding.
        rule: thresholds.
    """
    if not (rule.chronic_quiet and incident.chronic) or found_at is None or changed:
        return False
    fresh = (now - found_at).total_seconds() <= rule.chronic_finding_age_s
    return fresh and incident.severity is found_severity


def makes_a_card(severity: Severity) -> bool:
    """Whether an alert of this severity opens an incident at all."""
    return severity is not Severity.INFO


def silent(severity: Severity) -> bool:
    """Whether a new card of this severity stays silent unless its room asks for sound."""
    return severity.rank < Severity.HIGH.rank


def recovered(incident: Incident, firing: int, now: datetime, rule: RecurrenceRule) -> Incident:
    """Resolve an incident of which nothing fires; a flapping one has to stay quiet first."""
    if firing or incident.state is not IncidentState.OPEN:
        return incident
    if not incident.flapping:
        return resolved(incident, now)
    green_at = now + timedelta(seconds=rule.flapping_quiet_s)
    return incident.model_copy(update={"green_at": green_at})


def resolved(incident: Incident, now: datetime) -> Incident:
    """Mark an incident resolved."""
    update = {"state": IncidentState.RESOLVED, "resolved_at": now, "green_at": None}
    return incident.model_copy(update=update)


def turns_green(incident: Incident, firing: int, now: datetime) -> bool:
    """Whether a flapping incident has been quiet long enough."""
    if incident.state is not IncidentState.OPEN or firing or incident.green_at is None:
        return False
    return now >= incident.green_at


def stale(incident: Incident, now: datetime, rule: IncidentRule) -> bool:
    """Whether an open incident has been without news for so long that it must be closed."""
    if incident.state is not IncidentState.OPEN:
        return False
    seen_at = [m.last_seen_at for m in incident.firing]
    newest = max([incident.activity_at, *seen_at])
    return (now - newest).total_seconds() >= rule.stale_ttl_s


def heartbeat_missing(last_seen_at: datetime, gap_s: float | None, now: datetime) -> bool:
    """Whether a heartbeat is overdue, judged by the longest gap seen while it was alive."""
    due_s = HEARTBEAT_UNKNOWN_S
    if gap_s is not None:
        due_s = max(HEARTBEAT_FLOOR_S, HEARTBEAT_FACTOR * gap_s)
    return (now - last_seen_at).total_seconds() > due_s
