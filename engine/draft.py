"""The working copy of one incident while a delivery is played out."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from engine.model.alert import AlertClass, Severity
from engine.model.incident import (
    AlertGroup,
    Incident,
    IncidentState,
    JoinReason,
    Member,
    MemberState,
)
from engine.model.standing import Absorbed, CardReason, Saved, Standing
from engine.paging import Before

_WEIGHT = {reason: weight for weight, reason in enumerate(CardReason)}


@dataclass
class Draft:
    """An incident that may still change."""

    incident: Incident
    firing: int = 0
    """Members known to fire, those not loaded included."""
    born: bool = False
    """It is not stored yet."""
    before: Before | None = None
    """What it was before the delivery; None when it is new."""
    groups: dict[str, AlertGroup] = field(default_factory=dict)
    members: dict[str, Member] = field(default_factory=dict)
    changed: dict[str, None] = field(default_factory=dict)
    absorbed: list[Absorbed] = field(default_factory=list)
    reason: CardReason | None = None
    """Why its card is to be drawn again; None when nothing on it changed."""
    judge_in_s: float | None = None
    """Seconds until it is due to be judged; None when it is not."""

    @classmethod
    def of(cls, standing: Standing) -> "Draft":
        """Take up a stored incident."""
        incident = standing.incident
        return cls(
            incident=incident,
            firing=standing.firing,
            before=Before.of(incident),
            groups={g.id: g for g in incident.groups},
            members={m.alert.fingerprint: m for m in incident.members},
        )

    def put(self, member: Member, group: AlertGroup) -> None:
        """Seat a member, or change what is known of it."""
        fingerprint = member.alert.fingerprint
        before = self.members.get(fingerprint)
        self.firing += (member.state is MemberState.FIRING) - (
            before is not None and before.state is MemberState.FIRING
        )
        self.members[fingerprint] = member
        self.groups.setdefault(group.id, group)
        self.changed[fingerprint] = None
        if member.state is MemberState.FIRING:
            self._widen(member.alert.severity, group.alert_class)

    def _widen(self, severity: Severity, alert_class: AlertClass) -> None:
        if severity.rank > self.incident.severity.rank:
            self.set(severity=severity)
        if alert_class is AlertClass.CAUSE:
            self.set(alert_class=alert_class)

    def set(self, **update: object) -> None:
        """Change fields of the incident."""
        self.incident = self.incident.model_copy(update=update)

    def active(self, now: datetime) -> None:
        """Note that something was heard of it."""
        if self.incident.activity_at != now:
            self.set(activity_at=now)

    def show(self, reason: CardReason) -> None:
        """Have its card drawn again; the weightiest reason is kept."""
        if self.reason is None or _WEIGHT[reason] > _WEIGHT[self.reason]:
            self.reason = reason

    def judge_in(self, delay_s: float) -> None:
        """Make it due to be judged, at the earlier of two times."""
        self.judge_in_s = delay_s if self.judge_in_s is None else min(self.judge_in_s, delay_s)

    def reopen(self) -> bool:
        """Open it again; False when it was open."""
        was = self.incident.state
        self.set(state=IncidentState.OPEN, resolved_at=None, green_at=None)
        return was is not IncidentState.OPEN

    def absorb(self, other: "Draft", reason: JoinReason, shared: Mapping[str, str]) -> None:
        """Take over everything another incident holds."""
        for fingerprint, member in other.members.items():
            copy = member.model_copy(update={"reason": reason, "shared": dict(shared)})
            if self.members.setdefault(fingerprint, copy) is copy and other.born:
                self.changed[fingerprint] = None
        self.groups |= {k: g for k, g in other.groups.items() if k not in self.groups}
        self.firing += other.firing
        self._widen(other.incident.severity, other.incident.alert_class)
        truncated = self.incident.truncated + other.incident.truncated
        self.set(truncated=truncated, chronic=self.incident.chronic and other.incident.chronic)
        if other.born:
            self.absorbed += other.absorbed
            return
        self.absorbed.append(Absorbed(other.incident.id, reason, dict(shared)))
        other.set(state=IncidentState.MERGED, merged_into=self.incident.id)
        other.show(CardReason.MERGED)

    def whole(self) -> Incident:
        """The incident with its groups and members as they are now."""
        members = sorted(self.members.values(), key=lambda m: m.joined_at)
        update = {"groups": tuple(self.groups.values()), "members": tuple(members)}
        return self.incident.model_copy(update=update)

    def saved(self) -> Saved:
        """Hand it over to be kept."""
        return Saved(
            incident=self.whole(),
            born=self.born,
            changed=tuple(self.changed),
            absorbed=tuple(self.absorbed),
        )


def opened(
    incident_id: str,
    client_id: str,
    group: AlertGroup,
    severity: Severity,
    at: datetime,
    settle_at: datetime,
    window_until: datetime,
) -> Draft:
    """Begin a new incident; its number is given when it is kept."""
    incident = Incident(
        id=incident_id,
        client_id=client_id,
        number=0,
        state=IncidentState.OPEN,
        severity=severity,
        alert_class=group.alert_class,
        opened_at=at,
        activity_at=at,
        settle_at=settle_at,
        window_until=window_until,
        groups=(),
        members=(),
        recurrences=0,
    )
    return Draft(incident, born=True, reason=CardReason.OPENED)
