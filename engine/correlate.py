"""Which open incident an alert belongs to, and the evidence for it."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from engine.identity import host_of
from engine.model.alert import Alert, AlertClass
from engine.model.incident import Incident, JoinReason
from engine.model.policy import CorrelationRule

Mark = tuple[str, str]
"""One thing an alert points at: its kind and its name."""

NODES = ("node", "kubernetes_node", "hostname", "host", "nodename")
DENOMINATORS: Mapping[str, tuple[str, ...]] = {
    "database": ("database", "datname", "db", "db_instance", "dbinstance_identifier"),
    "image": ("image", "container_image"),
    "zone": ("zone", "availability_zone", "az", "topology_kubernetes_io_zone"),
}
"""What many failures may have in common, and the labels that name it."""
ESTATE = ("cluster", "environment", "env", "region", "tenant")
"""Labels of the whole estate: two hosts of one name in two clusters are two hosts."""
WALLS = frozenset({"namespace", "workload", "service", "host", "device", "mountpoint", "target"})
"""Scope labels that tell two failures apart even where something precise is shared."""
PRECISE = frozenset({"host", "service", "workload"})
SAMPLE = 50
"""Most members looked at for one thing they share."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where an alert hurts."""

    scope: Mapping[str, str]
    """The labels of its family's failing scope."""
    marks: frozenset[Mark]
    """Its namespace, service, workload and hosts."""
    denominators: frozenset[Mark]
    estate: frozenset[Mark]

    @property
    def things(self) -> frozenset[str]:
        """Its workload, service and hosts as `kind:name`; what a judgement remembers."""
        return frozenset(f"{kind}:{name}" for kind, name in self.marks if kind in PRECISE)

    @property
    def thing(self) -> str:
        """The customer's service it is about; a host stands in where none is named."""
        named = dict(self.marks)
        return next((named[k] for k in ("service", "workload", "host") if k in named), "")


def place_of(
    alert: Alert,
    scope: Mapping[str, str],
    rule: CorrelationRule,
    node_of: Mapping[str, str] | None = None,
) -> Place:
    """Read an alert's place off its labels.

    Args:
        alert: the alert.
        scope: its family's failing scope.
        rule: which labels name a host.
        node_of: nodes by `namespace/pod`, where they are known.
    """
    labels = alert.labels
    hosts = {host_of(alert, rule), scope.get("host"), *(labels.get(name) for name in NODES)}
    pod = f"{labels.get('namespace', '')}/{labels.get('pod', '')}"
    hosts.add((node_of or {}).get(pod))
    marks = {("host", host) for host in hosts if host}
    marks |= {(k, scope[k]) for k in ("namespace", "service", "workload") if scope.get(k)}
    shared = {(k, labels[n]) for k, names in DENOMINATORS.items() for n in names if labels.get(n)}
    return Place(
        scope=scope,
        marks=frozenset(marks),
        denominators=frozenset(shared | {m for m in marks if m[0] == "host"}),
        estate=frozenset((k, labels[k]) for k in ESTATE if labels.get(k)),
    )


def judged_scopes(incident: Incident, rule: CorrelationRule) -> frozenset[str]:
    """Every workload, service and host among the members: what a judgement of it has seen."""
    return frozenset().union(
        *(place_of(m.alert, group.scope, rule).things for m, group in incident.seated())
    )


@dataclass(frozen=True, slots=True)
class Spot:
    """One member of an open incident, as far as joining looks at it."""

    incident_id: str
    group_id: str
    fingerprint: str
    place: Place
    bad_at: datetime
    """When its alert started."""
    seen_at: datetime
    """When it joined."""
    alert_class: AlertClass


@dataclass(frozen=True, slots=True)
class Join:
    """Incidents an alert ties together, the reason, and what they share."""

    incident_ids: tuple[str, ...]
    reason: JoinReason
    shared: Mapping[str, str]


def same_estate(one: Place, other: Place) -> bool:
    """Whether no label of the whole estate tells two places apart."""
    if one.estate == other.estate:
        return True
    known = dict(other.estate)
    return all(known.get(kind, name) == name for kind, name in one.estate)


def agree(one: Place, other: Place) -> bool:
    """Whether every scope label both carry has one value.

    Where a service, workload or host is shared, a status code or a queue may differ; and copies
    of one service may run on different hosts.
    """
    if not same_estate(one, other):
        return False
    theirs = other.scope
    clashes = {key for key, value in one.scope.items() if theirs.get(key, value) != value}
    if not clashes:
        return True
    common = {kind for kind, _ in one.marks & other.marks}
    if common & PRECISE:
        clashes &= WALLS
    if common & {"service", "workload"}:
        clashes -= {"host"}
    return not clashes


def _said(marks: Iterable[Mark]) -> dict[str, str]:
    return dict(sorted(marks))


@dataclass
class Crowd:
    """The members of open incidents, found by what they point at."""

    spots: list[Spot] = field(default_factory=list)
    _by_mark: dict[Mark, list[Spot]] = field(default_factory=lambda: defaultdict(list))
    _by_denominator: dict[Mark, list[Spot]] = field(default_factory=lambda: defaultdict(list))

    def add(self, spot: Spot) -> None:
        """Take a member in."""
        self.spots.append(spot)
        for mark in spot.place.marks:
            self._by_mark[mark].append(spot)
        for mark in spot.place.denominators:
            self._by_denominator[mark].append(spot)

    def by_scope(self, place: Place, may_join: Callable[[Spot], bool]) -> Join | None:
        """Find the incident whose scope agrees and shares a namespace, service or host."""
        for mark in sorted(place.marks, key=lambda m: (m[0] == "namespace", m)):
            near = [s for s in self._by_mark.get(mark, ())[-SAMPLE:] if may_join(s)]
            fits = [agree(place, s.place) for s in near]
            agreeing = [s for s, fit in zip(near, fits, strict=True) if fit]
            if mark[0] == "namespace":
                # A namespace alone is thin: where an incident already speaks of another
                # workload, it must not swallow this one.
                against = {s.incident_id for s, fit in zip(near, fits, strict=True) if not fit}
                agreeing = [s for s in agreeing if s.incident_id not in against]
            if agreeing:
                found = agreeing[0]
                common = _said(place.marks & found.place.marks)
                return Join((found.incident_id,), JoinReason.SHARED_SCOPE, common)
        return None

    def linked(self, place: Place, may_join: Callable[[Spot], bool]) -> Join | None:
        """Find every incident a cause reaches: its host, service or workload is theirs too."""
        found: dict[str, frozenset[Mark]] = {}
        for mark in sorted(m for m in place.marks if m[0] in PRECISE):
            for spot in self._by_mark.get(mark, ()):
                if may_join(spot) and _reaches(place, spot.place, mark):
                    found.setdefault(spot.incident_id, place.marks & spot.place.marks)
        if not found:
            return None
        common = frozenset.intersection(*found.values())
        return Join(tuple(found), JoinReason.LATE_CAUSE, _said(common))

    def by_denominator(
        self,
        place: Place,
        group_id: str,
        bad_at: datetime,
        rule: CorrelationRule,
        may_join: Callable[[Spot], bool],
    ) -> Join | None:
        """Find what enough of the things that went bad just now have in common."""
        near = timedelta(seconds=rule.common_denominator_s)
        for mark in sorted(place.denominators):
            close = [
                s
                for s in self._by_denominator.get(mark, ())[-SAMPLE:]
                if abs(s.bad_at - bad_at) <= near and may_join(s) and same_estate(place, s.place)
            ]
            if len({group_id, *(s.group_id for s in close)}) >= rule.common_denominator_min:
                ids = tuple(dict.fromkeys(s.incident_id for s in close))
                return Join(ids, JoinReason.COMMON_DENOMINATOR, _said([mark]))
        return None

    def by_storm(
        self, place: Place, now: datetime, rule: CorrelationRule, may_join: Callable[[Spot], bool]
    ) -> Join | None:
        """Find the storm an alert is part of: many alerts over many services at once."""
        since = now - timedelta(seconds=rule.storm_window_s)
        newest = self.spots[-10 * rule.storm_alerts :]
        recent = [s for s in newest if s.seen_at > since and may_join(s)]
        if len(recent) + 1 < rule.storm_alerts:
            return None
        things = {s.place.thing for s in recent} | {place.thing}
        if len(things - {""}) < rule.storm_services:
            return None
        ids = tuple(dict.fromkeys(s.incident_id for s in recent))
        return Join(ids, JoinReason.STORM, {})

    def moved(self, gone: Collection[str], into: str) -> None:
        """Follow a merge: what stood in `gone` stands in `into`."""
        before, self.spots = self.spots, []
        self._by_mark.clear()
        self._by_denominator.clear()
        for s in before:
            at = into if s.incident_id in gone else s.incident_id
            self.add(
                Spot(at, s.group_id, s.fingerprint, s.place, s.bad_at, s.seen_at, s.alert_class)
            )


def _reaches(cause: Place, symptom: Place, mark: Mark) -> bool:
    """Whether a cause on `mark` explains a symptom there: a host is one whatever runs on it."""
    return same_estate(cause, symptom) if mark[0] == "host" else agree(cause, symptom)
