"""What intake reads before it decides and hands over after: events, seats, transitions."""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from pydantic import AwareDatetime

from engine.model.alert import Alert, AlertClass, AlertStatus
from engine.model.base import Frozen
from engine.model.incident import (
    AttachTrigger,
    Incident,
    IncidentState,
    JoinReason,
    MemberState,
)


class CardReason(StrEnum):
    """Why an incident's card is drawn again; later ones weigh more."""

    ATTACHED = "attached"
    RECOVERING = "recovering"
    """A member resolved, others still fire."""
    JOINED = "joined"
    SEVERITY = "severity"
    REOPENED = "reopened"
    OPENED = "opened"
    RESOLVED = "resolved"
    CLOSED = "closed"
    MERGED = "merged"


class SourceState(Frozen):
    """A sender of alerts as its row stands before this delivery."""

    id: str
    client_id: str
    name: str
    kind: str
    first_seen_at: AwareDatetime | None = None
    """None before it ever spoke."""
    last_seen_at: AwareDatetime | None = None
    polled_at: AwareDatetime | None = None


class Sighting(Frozen):
    """One alert of a delivery with the group it belongs to."""

    alert: Alert
    group_id: str
    alert_class: AlertClass


class Newest(Frozen):
    """The newest event of a fingerprint; what its state follows."""

    event_id: int
    starts_at: AwareDatetime
    status: AlertStatus


class Seat(Frozen):
    """A fingerprint's place in one incident."""

    incident_id: str
    incident_state: IncidentState
    first_contact: bool
    fingerprint: str
    group_id: str
    state: MemberState
    starts_at: AwareDatetime
    """Of its newest event."""
    last_seen_at: AwareDatetime


class Standing(Frozen):
    """An incident with some of its members, and how many fire in all."""

    incident: Incident
    firing: int
    size: int


class Flip(Frozen):
    """One change of a member between firing and not."""

    group_id: str
    fingerprint: str
    incident_id: str | None
    to_state: MemberState
    at: AwareDatetime
    trigger: AttachTrigger | None = None


class Recalled(Frozen):
    """What is remembered of the families of a delivery."""

    incidents: Mapping[str, tuple[str, ...]] = {}
    """Incidents by group, the best candidate first."""
    flips: Mapping[str, tuple[Flip, ...]] = {}
    """Transitions by group, oldest first."""
    earlier: Mapping[str, int] = {}
    """Incidents of the family inside the chronic window, by group."""


class Heartbeat(Frozen):
    """An alert that fires while all is well."""

    client_id: str
    fingerprint: str
    source: str
    rule: str
    last_seen_at: AwareDatetime
    gap_s: float | None = None
    missing_since: AwareDatetime | None = None
    incident_id: str | None = None


class Absorbed(NamedTuple):
    """An incident whose members another one takes over, and why."""

    incident_id: str
    reason: JoinReason
    shared: Mapping[str, str]


class Saved(Frozen):
    """One incident as it shall be kept, with the members that changed."""

    incident: Incident
    born: bool
    changed: tuple[str, ...]
    """Fingerprints of members that are new or different."""
    absorbed: tuple[Absorbed, ...] = ()


EventKey = tuple[str, datetime]
"""Fingerprint and start: an event's identity inside one source."""
