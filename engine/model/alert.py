"""One symptom as its source reported it."""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from functools import cached_property

from pydantic import AwareDatetime, Field

from engine.model.base import Frozen, canonical_json, digest


class Severity(StrEnum):
    """How bad the rule's author said it is."""

    CRITICAL = "critical"
    HIGH = "high"
    WARNING = "warning"
    INFO = "info"
    UNKNOWN = "unknown"

    @property
    def rank(self) -> int:
        """Order for comparing: 4 is the worst, 0 is unknown."""
        return {"critical": 4, "high": 3, "warning": 2, "info": 1, "unknown": 0}[self.value]


class AlertStatus(StrEnum):
    """What the source says about it now."""

    FIRING = "firing"
    RESOLVED = "resolved"


class AlertClass(StrEnum):
    """What kind of statement an alert is; decides whether a cause may be looked for."""

    SYMPTOM = "symptom"
    CAUSE = "cause"
    """Node, network, database or DNS down: it explains others."""
    PREDICTIVE = "predictive"
    """Nothing is broken yet: certificate expiry, a disk that fills."""
    MONITORING_GAP = "monitoring_gap"
    """Nobody measured: absent series, no data, target down."""
    HEARTBEAT = "heartbeat"
    """Fires while all is well."""


class Alert(Frozen):
    """One symptom; labels identify it, annotations describe it."""

    source: str
    """Name of the configured source that sent it."""
    status: AlertStatus
    severity: Severity
    labels: Mapping[str, str] = Field(min_length=1)
    annotations: Mapping[str, str] = {}
    starts_at: AwareDatetime
    ends_at: AwareDatetime | None = None
    """When the source says it resolved; None while it fires."""
    source_fingerprint: str | None = None
    """The sender's own identity; recorded, never trusted."""
    generator_url: str | None = None
    zone_assumed: bool = False
    """The sender gave no time zone and UTC was taken."""

    @cached_property
    def fingerprint(self) -> str:
        """Identity of the series: SHA-256 over source and sorted labels, 16 hex characters."""
        return digest(canonical_json([self.source, dict(self.labels)]), 16)

    @property
    def rule(self) -> str:
        """Name of the rule that fired; the two data-source alerts carry theirs in `rulename`."""
        return self.labels.get("rulename") or self.labels.get("alertname") or ""

    def firing_at(self, now: datetime) -> bool:
        """Whether it still fires at `now`."""
        if self.status is AlertStatus.RESOLVED:
            return False
        return self.ends_at is None or self.ends_at > now
