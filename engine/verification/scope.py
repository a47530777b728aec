"""Where to look for peers: from the narrowest scope the members share to everything there is."""

import re
from collections.abc import Iterable, Mapping
from typing import Final

from typing_extensions import override

from engine.exporters import Exporter, exporter_of
from engine.model.base import Frozen
from engine.model.incident import AlertGroup, Incident, Member
from engine.promql.strings import quote

RUNGS: Final = (
    ("namespace", "service"),
    ("namespace",),
    ("job",),
    ("cluster",),
)
"""Labels of each scope, narrowest first. Never a pod, an instance or a container: what fails is no
peer of itself."""
MOST_VALUES: Final = 50
"""Values of one label past which a matcher would grow too long; a wider scope is asked."""
_SPECIAL = re.compile(r"[.^$*+?()\[\]{}|\\]")
_ELSEWHERE = frozenset({Exporter.CLUSTER_STATE, Exporter.PROBE, Exporter.CLOUD})
"""Exporters that stand somewhere else than what they measure; their job says nothing of peers."""


class Scope(Frozen):
    """Labels and, for each, the values of all members; no label means all targets."""

    values: Mapping[str, tuple[str, ...]] = {}

    @property
    def narrow(self) -> bool:
        """Whether it leaves anything out."""
        return bool(self.values)

    @property
    def labels(self) -> dict[str, str]:
        """The labels as a reader sees them; several values are joined by `|`."""
        return {label: "|".join(values) for label, values in self.values.items()}

    def matchers(self, *, extra: Mapping[str, str], fixed: str = "") -> str:
        """Write what stands between braces: values quoted, several of them as alternatives."""
        held = [f"{label}={quote(value)}" for label, value in extra.items()]
        own = [_matcher(label, values) for label, values in self.values.items()]
        return ",".join([*([fixed] if fixed else []), *own, *held])

    @override
    def __str__(self) -> str:
        """Name it as on the card: `namespace=checkout`."""
        return ", ".join(f"{k}={v}" for k, v in self.labels.items()) or "all targets"


def ladder(incident: Incident) -> tuple[Scope, ...]:
    """Give the scopes to try, the first that answers wins; the last one is all targets."""
    shared = _shared(incident)
    rungs = [
        Scope(values={label: shared[label] for label in labels})
        for labels in RUNGS
        if all(label in shared for label in labels)
    ]
    return (*rungs, Scope())


def narrowest(incident: Incident) -> Mapping[str, str]:
    """Give the labels of the first rung that hold one value each: what a query is narrowed by."""
    first = ladder(incident)[0]
    return {label: values[0] for label, values in first.values.items() if len(values) == 1}


def _shared(incident: Incident) -> dict[str, tuple[str, ...]]:
    """Union the values of every label that each member carries."""
    scopes = [_broad(member, group) for member, group in incident.seated()]
    labels = [label for rung in RUNGS for label in rung]
    held = [label for label in labels if scopes and all(scope.get(label) for scope in scopes)]
    shared = {label: _union(scope[label] for scope in scopes) for label in held}
    return {label: values for label, values in shared.items() if len(values) <= MOST_VALUES}


def _broad(member: Member, group: AlertGroup) -> dict[str, str]:
    """Give a member's labels: its group's scope, and its job unless that is an exporter's own."""
    scope = dict(group.scope)
    labels = member.alert.labels
    if labels.get("job") and exporter_of(labels) not in _ELSEWHERE:
        scope.setdefault("job", labels["job"])
    return scope


def _union(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(set(values)))


def _matcher(label: str, values: tuple[str, ...]) -> str:
    if len(values) == 1:
        return f"{label}={quote(values[0])}"
    return f"{label}=~{quote('|'.join(_SPECIAL.sub(_escaped, value) for value in values))}"


def _escaped(match: re.Match[str]) -> str:
    return "\\" + match[0]
