"""The context pack: what is known before any model runs. One shape, three consumers."""

from collections.abc import Mapping
from enum import StrEnum
from functools import cached_property
from typing import Annotated, Literal

from pydantic import AwareDatetime, Field

from engine.model.alert import AlertClass, Severity
from engine.model.base import Frozen, digest
from engine.model.evidence import GapCause


class SectionName(StrEnum):
    """The parts of a pack, in the order people and models read them."""

    ALERTS = "alerts"
    HISTORY = "history"
    METRICS = "metrics"
    IMPACT = "impact"
    LOGS = "logs"
    CHANGES = "changes"
    """Host-scoped, newest first; empty without a resolved host."""
    DEPLOYS = "deploys"
    """Client-scoped git, CI and deploys, nearest to onset first."""
    CLOUD = "cloud"
    UPSTREAM = "upstream"
    KUBERNETES = "kubernetes"
    ZABBIX = "zabbix"
    RUNBOOK = "runbook"
    PRIORS = "priors"


class SectionStatus(StrEnum):
    """How a section ended; "nothing found" and "nobody asked" are different sentences."""

    OK = "ok"
    EMPTY = "empty"
    DEGRADED = "degraded"
    NOT_CONFIGURED = "not_configured"


class CauseClass(StrEnum):
    """The closed list of causes a finding may name."""

    DEPLOY = "deploy"
    CONFIG_CHANGE = "config_change"
    RESOURCE_EXHAUSTION = "resource_exhaustion"
    """Memory, CPU, disk, descriptors, connection pool."""
    TRAFFIC = "traffic"
    DEPENDENCY = "dependency"
    DATABASE = "database"
    NODE = "node"
    NETWORK = "network"
    DNS = "dns"
    CERTIFICATE = "certificate"
    CODE_FAULT = "code_fault"
    CLOUD_PROVIDER = "cloud_provider"
    MONITORING = "monitoring"
    OTHER = "other"


class AlertFacts(Frozen):
    """What a group of like alerts says."""

    kind: Literal["alert"] = "alert"
    rule: str
    severity: Severity
    alert_class: AlertClass
    labels: Mapping[str, str]
    """Shared by every alert counted here."""
    count: int
    firing: int
    starts_at: AwareDatetime
    summary: str = ""
    description: str = ""


class Signal(StrEnum):
    """What a metric tells of its component."""

    SATURATION = "saturation"
    """How much of a ceiling is used; the ceiling is the digest's `limit`."""
    ERRORS = "errors"
    LATENCY = "latency"
    TRAFFIC = "traffic"
    RESTARTS = "restarts"
    MEMORY = "memory"
    CPU = "cpu"
    QUEUE = "queue"
    UP = "up"
    OTHER = "other"


class MetricDigest(Frozen):
    """A series in a few numbers, against what it was before onset."""

    kind: Literal["metric"] = "metric"
    name: str
    """Short name a person knows it by."""
    query: str
    labels: Mapping[str, str]
    minimum: float
    mean: float
    maximum: float
    last: float
    baseline: float | None
    """Median before onset; None when there was no data then."""
    deviation: float | None
    """Robust z-score of the window after onset against the baseline."""
    sparkline: str
    """Eight levels, oldest first, at most 24 characters."""
    changed_at: AwareDatetime | None = None
    """Change point of this series, where one stands out."""
    unit: str = ""
    signal: Signal = Signal.OTHER
    limit: float | None = None
    """The ceiling this series runs against, where one was found."""
    peers: float | None = None
    """Median of the newest value over peers of the same kind; None without peers."""
    peer: bool = False
    """This is one of the peers, not what fails."""
    own_expression: bool = False
    """This is the alert's own expression: it restates the symptom and explains nothing."""


class ChangeKind(StrEnum):
    """What changed."""

    DEPLOY = "deploy"
    IMAGE = "image"
    BUILD = "build"
    CONFIG = "config"
    RESTART = "restart"
    CLOUD = "cloud"
    OTHER = "other"


class ChangeFacts(Frozen):
    """Something a person or a machine changed."""

    kind: Literal["change"] = "change"
    change: ChangeKind
    at: AwareDatetime
    offset_s: float
    """Seconds relative to fire time; negative is before."""
    onset_offset_s: float
    """Seconds relative to onset; negative is before. What ranking uses."""
    component: str
    what: str
    source: str
    """The source or `metrics` when it was read from build or image series."""
    labels: Mapping[str, str] = {}


class HistoryFacts(Frozen):
    """What is known of the family's past."""

    kind: Literal["history"] = "history"
    occurrences: int
    window_s: float
    last_at: AwareDatetime | None = None
    last_root_cause: str | None = None
    last_trust: str | None = None


class PriorFacts(Frozen):
    """How an earlier case that looks alike ended, as a person confirmed it."""

    kind: Literal["prior"] = "prior"
    stub_id: str
    root_cause: str
    component: str
    cause_class: CauseClass
    fix: str
    confirmed_by: str
    confirmed_at: AwareDatetime | None
    distance: float
    """Cosine distance of the symptoms: 0 is the same, 2 is the opposite."""
    held: bool
    """The family stayed quiet after the fix."""


class TextFacts(Frozen):
    """A line of evidence with nothing to compute on."""

    kind: Literal["text"] = "text"
    untrusted: bool = False
    """Anyone who can reach the service can write this text."""


Facts = Annotated[
    AlertFacts | MetricDigest | ChangeFacts | HistoryFacts | PriorFacts | TextFacts,
    Field(discriminator="kind"),
]


class Item(Frozen):
    """One piece of evidence with the id that claims cite."""

    id: str = Field(pattern=r"^[A-Z]\d+$")
    text: str
    """One plain line; what the model reads and a person may read."""
    facts: Facts = TextFacts()


class Section(Frozen):
    """One part of the pack and how it ended."""

    name: SectionName
    status: SectionStatus
    items: tuple[Item, ...] = ()
    omitted: int = 0
    """Items the caps left out: "n more"."""
    cause: GapCause | None = None
    """Set when degraded."""
    note: str = ""


class OnsetSource(StrEnum):
    """Where the time the symptom began was read from."""

    CHANGE_POINT = "change_point"
    ACTIVE = "active"
    FIRED = "fired"


class Anchor(Frozen):
    """The explicit "now" and "where" of an incident."""

    incident_id: str
    client_id: str
    rule: str
    severity: Severity
    alert_class: AlertClass
    summary: str
    environment: str | None
    service: str | None
    """What fails, in the shortest name a person uses for it."""
    host: str | None
    grouping_key: Mapping[str, str]
    """The scope labels every member shares."""
    fired_at: AwareDatetime
    active_at: AwareDatetime
    onset_at: AwareDatetime
    onset_source: OnsetSource
    zone_assumed: bool = False
    expression: str | None = None
    """The alert rule's own expression, where the source knows it."""
    taken_at: AwareDatetime
    """When the pack was frozen."""


class CanWait(StrEnum):
    """Whether a person must get up for this."""

    NO = "no"
    YES = "yes"
    UNKNOWN = "unknown"


class ImpactReason(StrEnum):
    """What decided `CanWait`."""

    USERS_HIT = "users_hit"
    """Traffic is served and a share of it fails or is slow."""
    NO_TRAFFIC = "no_traffic"
    NO_ERRORS = "no_errors"
    TIME_LEFT = "time_left"
    """Nothing is broken yet and there is time."""
    SOON = "soon"
    """Nothing is broken yet but will be before the morning."""
    BUDGET_BURNS = "budget_burns"
    SELF_CLEARED = "self_cleared"
    NOT_MEASURED = "not_measured"


class Impact(Frozen):
    """Who is hit now; computed by code only."""

    can_wait: CanWait
    reason: ImpactReason
    traffic_per_s: float | None = None
    error_share: float | None = Field(None, ge=0, le=1)
    until_s: float | None = None
    """Seconds until a predicted failure."""
    evidence_ids: tuple[str, ...] = ()


class SuspectReason(StrEnum):
    """Why something is suspected."""

    CHANGED_NEAR_ONSET = "changed_near_onset"
    UPSTREAM_FIRING = "upstream_firing"
    DEVIATED_BEFORE = "deviated_before"
    AT_ITS_LIMIT = "at_its_limit"
    CONFIG_CHANGED = "config_changed"
    COMMON_DENOMINATOR = "common_denominator"
    FIXED_IT_BEFORE = "fixed_it_before"
    CAUSE_ALERT = "cause_alert"


class Suspect(Frozen):
    """A candidate cause, ranked without a model."""

    component: str
    cause_class: CauseClass
    score: float = Field(ge=0, le=1)
    reasons: tuple[SuspectReason, ...]
    text: str
    """The fact in one line: what changed or deviated, and when relative to onset."""
    evidence_ids: tuple[str, ...]


class Pack(Frozen):
    """Everything known before the model: shown to people, sent to the model, replayed."""

    revision: int = 1
    anchor: Anchor
    sections: tuple[Section, ...]
    impact: Impact
    suspects: tuple[Suspect, ...] = ()
    """Best first; empty when none stands out."""

    @cached_property
    def hash(self) -> str:
        """SHA-256 of the canonical JSON."""
        return digest(self.canonical())

    @property
    def degraded(self) -> tuple[SectionName, ...]:
        """Sections whose backend could not answer."""
        return tuple(s.name for s in self.sections if s.status is SectionStatus.DEGRADED)

    def section(self, name: SectionName) -> Section | None:
        """One section by name; None while it is still being looked at."""
        return next((s for s in self.sections if s.name is name), None)

    @property
    def items(self) -> tuple[Item, ...]:
        """Every piece of evidence, in reading order."""
        return tuple(item for section in self.sections for item in section.items)
