"""Rows of incidents as values, and values as rows."""

from collections.abc import Mapping, Sequence
from typing import Any

from engine.model.alert import Alert, Severity
from engine.model.base import Frozen
from engine.model.incident import AlertGroup, Incident, IncidentState, Member, MemberState
from engine.model.standing import Flip, Saved, Seat, Standing

_PLAIN = (
    "id",
    "client_id",
    "number",
    "opened_at",
    "activity_at",
    "settle_at",
    "window_until",
    "occurrences",
    "recurrences",
    "chronic",
    "regression",
    "flapping",
    "first_contact",
    "judged_at",
    "since_judged",
    "resolved_at",
    "green_at",
    "merged_into",
    "truncated",
)
"""Fields whose column holds just the value."""


class NeighbourRow(Frozen):
    """Another incident of the client, without its finding."""

    id: str
    key: str
    severity: Severity
    state: IncidentState


def seat_of(row: Any) -> Seat:
    """A fingerprint's place."""
    return Seat.model_validate(row._asdict())


def flip_of(row: Any) -> Flip:
    """A transition."""
    return Flip.model_validate(row._asdict())


def standings(
    rows: Sequence[Any],
    members: Mapping[str, Sequence[Any]],
    groups: Sequence[Any],
    counted: Sequence[Any],
) -> list[Standing]:
    """Incidents with these members and all their counts."""
    names = tuple(AlertGroup.model_fields)
    by_id = {row[0]: AlertGroup(**dict(zip(names, row, strict=True))) for row in groups}
    counts = {incident_id: (size, firing) for incident_id, size, firing in counted}
    found = []
    for row in rows:
        size, firing = counts.get(row.id, (0, 0))
        incident = incident_of(row, members.get(row.id, ()), by_id)
        found.append(Standing(incident=incident, firing=firing, size=size))
    return found


def incident_of(row: Any, members: Sequence[Any], groups: Mapping[str, AlertGroup]) -> Incident:
    """An incident with these members."""
    held = dict.fromkeys(m.group_id for m in members)
    return Incident(
        **{name: getattr(row, name) for name in _PLAIN},
        state=IncidentState(row.state),
        severity=Severity(row.severity),
        alert_class=row.alert_class,
        judged_severity=row.judged_severity,
        judged_rules=tuple(row.judged_rules),
        judged_scopes=tuple(row.judged_scopes),
        groups=tuple(groups[g] for g in held),
        members=tuple(_member_of(m) for m in members),
    )


def _member_of(row: Any) -> Member:
    return Member(
        alert=Alert.model_validate(row.alert),
        group_id=row.group_id,
        state=MemberState(row.state),
        joined_at=row.joined_at,
        last_seen_at=row.last_seen_at,
        reason=row.reason,
        shared=row.shared,
    )


def incident_columns(incident: Incident) -> dict[str, object]:
    """The columns of an incident; what was judged has its own door."""
    plain = {name: getattr(incident, name) for name in _PLAIN if name != "judged_at"}
    return plain | {
        "state": incident.state.value,
        "severity": incident.severity.value,
        "alert_class": incident.alert_class.value,
    }


def member_rows(saved: Sequence[Saved], events: Mapping[str, int]) -> list[dict[str, object]]:
    """The columns of every changed member, sorted by key so that writers never cross."""
    rows: list[tuple[str, str, Member]] = []
    for one in saved:
        members = {m.alert.fingerprint: m for m in one.incident.members}
        rows += [(one.incident.id, f, members[f]) for f in one.changed]
    rows.sort(key=lambda row: row[:2])
    return [
        {
            **member.model_dump(mode="json", exclude={"alert"}),
            "incident_id": incident_id,
            "fingerprint": fingerprint,
            "event_id": events[fingerprint],
        }
        for incident_id, fingerprint, member in rows
    ]
