"""One failure: the alert groups judged to belong together, and how they came together."""

from collections.abc import Iterator, Mapping
from enum import StrEnum

from pydantic import AwareDatetime

from engine.model.alert import Alert, AlertClass, Severity
from engine.model.base import Frozen


class IncidentState(StrEnum):
    """Where an incident stands."""

    OPEN = "open"
    RESOLVED = "resolved"
    CLOSED = "closed"
    """No news for the stale time; never called resolved."""
    MERGED = "merged"


class MemberState(StrEnum):
    """What is known of a member's alert now."""

    FIRING = "firing"
    RESOLVED = "resolved"
    STALE = "stale"


class JoinReason(StrEnum):
    """Why an alert belongs to an incident; recorded with every join."""

    OPENED = "opened"
    SAME_FINGERPRINT = "same_fingerprint"
    SAME_FAMILY = "same_family"
    SHARED_SCOPE = "shared_scope"
    DEPENDENCY = "dependency"
    COMMON_DENOMINATOR = "common_denominator"
    STORM = "storm"
    LATE_CAUSE = "late_cause"
    FIRST_CONTACT = "first_contact"
    BY_HAND = "by_hand"


class AttachTrigger(StrEnum):
    """Why a recurrence was judged again, or `none` when it was only counted."""

    NONE = "none"
    SEVERITY = "severity"
    NEW_RULE = "new_rule"
    NEW_SCOPE = "new_scope"
    CADENCE = "cadence"
    CAP = "cap"
    CEILING = "ceiling"


class AlertGroup(Frozen):
    """The open alerts of one rule on one failing scope."""

    id: str
    client_id: str
    family_key: str
    rule: str
    scope: Mapping[str, str]
    """The labels that fail together: namespace, workload, service, host, device…"""
    alert_class: AlertClass


class Member(Frozen):
    """One alert inside an incident."""

    alert: Alert
    group_id: str
    state: MemberState
    joined_at: AwareDatetime
    last_seen_at: AwareDatetime
    reason: JoinReason
    shared: Mapping[str, str] = {}
    """What it shares with the members before it; the evidence for `reason`."""


class Incident(Frozen):
    """One or more groups judged one failure; unit of job, pack, triage, finding and card."""

    id: str
    client_id: str
    number: int
    """Counts up per client; what people say aloud."""
    state: IncidentState
    severity: Severity
    """The highest of its members."""
    alert_class: AlertClass
    opened_at: AwareDatetime
    """Database time of the commit that opened it."""
    activity_at: AwareDatetime
    settle_at: AwareDatetime
    """When triage is due: fixed at opening, never sliding."""
    window_until: AwareDatetime
    """Until when alerts join by correlation."""
    groups: tuple[AlertGroup, ...]
    members: tuple[Member, ...]
    """Oldest join first."""
    occurrences: int = 1
    """Firings since it opened, the opening one included."""
    recurrences: int = 0
    """Earlier incidents of the same family inside the chronic window."""
    chronic: bool = False
    regression: bool = False
    flapping: bool = False
    first_contact: bool = False
    judged_at: AwareDatetime | None = None
    judged_severity: Severity | None = None
    judged_rules: tuple[str, ...] = ()
    judged_scopes: tuple[str, ...] = ()
    """Workloads, services and hosts among the judged members, as `kind:name`."""
    since_judged: int = 0
    """Recurrences that were only counted since the judgement."""
    green_at: AwareDatetime | None = None
    """Nothing fires, but it flaps: resolved when it is still quiet then."""
    resolved_at: AwareDatetime | None = None
    merged_into: str | None = None
    truncated: int = 0
    """Alerts the sender said it left out; evidence that is missing."""

    @property
    def firing(self) -> tuple[Member, ...]:
        """Members known to fire."""
        return tuple(m for m in self.members if m.state is MemberState.FIRING)

    @property
    def lead(self) -> Member:
        """The member the card is named after: the worst, a cause before a symptom, then first."""
        causes = {g.id for g in self.groups if g.alert_class is AlertClass.CAUSE}
        return min(
            self.members,
            key=lambda m: (-m.alert.severity.rank, m.group_id not in causes, m.joined_at),
        )

    def seated(self) -> Iterator[tuple[Member, AlertGroup]]:
        """Go through the members, each with the group it belongs to."""
        groups = {group.id: group for group in self.groups}
        return ((member, groups[member.group_id]) for member in self.members)

    def group_of(self, member: Member) -> AlertGroup:
        """The group a member belongs to."""
        return next(g for g in self.groups if g.id == member.group_id)
