"""The failing scope as metrics know it: who fails, and who its peers are."""

import re
from collections.abc import Mapping
from typing import Final

from engine.labels import cut_port, workload_of_pod
from engine.model.alert import Alert
from engine.model.base import Frozen
from engine.promql.selectors import selector
from engine.promql.strings import quote

_SPECIAL = re.compile(r"[.+*?()\[\]{}|^$\\]")
_LABEL = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_MEMBERS: Final = (
    "pod", "container", "service", "service_name", "app", "workload", "deployment", "statefulset",
    "daemonset", "job_name", "component", "instance", "host", "hostname", "node", "device",
    "mountpoint", "job", "namespace", "cluster",
)  # fmt: skip
"""Labels that name one of several alike, the narrowest first."""
_PHYSICAL = frozenset({"pod", "container", "instance", "host", "hostname", "node", "device"})
"""Labels that name a copy or a machine rather than what it does."""
_WIDE = frozenset({"cluster", "environment", "env", "region", "stage"})


class Scope(Frozen):
    """Labels that fail together, split into what names the member and what names its group."""

    member: str | None
    """The label that tells the failing one from its peers; None when nothing does."""
    labels: Mapping[str, str]
    """As metrics carry them: ports and pod hashes are still there."""
    workload: str | None = None
    """What a failing pod belongs to; its peers are the other pods of it."""

    @classmethod
    def of(cls, labels: Mapping[str, str]) -> "Scope":
        """Read a scope off labels; those no selector can name are left out."""
        usable = {name: labels[name] for name in sorted(labels) if _LABEL.fullmatch(name)}
        logical = [name for name in _MEMBERS if name in usable and name not in _PHYSICAL]
        physical = [name for name in _MEMBERS if name in usable and name in _PHYSICAL]
        wide = {"namespace", "cluster", "job"}
        member = next(iter([*(n for n in logical if n not in wide), *physical, *logical]), None)
        pod = usable.get("pod") if member == "pod" else None
        return cls(member=member, labels=usable, workload=workload_of_pod(pod) if pod else None)

    @classmethod
    def of_alert(cls, alert: Alert, scope: Mapping[str, str]) -> "Scope":
        """Find the alert's own labels behind a scope that was told in one word and cleaned."""
        return cls.of(dict(_behind(alert.labels, name, value) for name, value in scope.items()))

    @property
    def group(self) -> Mapping[str, str]:
        """What the failing one and its peers share; nobody is a peer across a whole cluster."""
        shared = {n: v for n, v in self.labels.items() if n not in _PHYSICAL and n != self.member}
        return shared if shared.keys() - _WIDE else self.labels

    def own(self, metric: str | None = None) -> str:
        """Select what fails."""
        return selector(metric, self.labels)

    def peers(self, metric: str, extra: str = "") -> str:
        """Select what fails and its peers, so that one query answers for both."""
        chosen = selector(metric, self.group)
        pods = f"pod=~{quote(pods_of(self.workload))}" if self.workload else ""
        more = ",".join(filter(None, (pods, extra)))
        if not more:
            return chosen
        return f"{chosen[:-1]},{more}}}" if chosen.endswith("}") else f"{chosen}{{{more}}}"

    @property
    def by(self) -> str:
        """The clause that keeps the failing one apart from its peers."""
        return f"by ({self.member})" if self.member else ""

    def is_own(self, labels: Mapping[str, str]) -> bool:
        """Whether a result grouped by `by` is the failing one."""
        return self.member is None or labels.get(self.member) == self.labels[self.member]

    def ladder(self) -> tuple["Scope", ...]:
        """The scope, then the same without wide labels, then its narrowest label alone.

        Metrics often lack labels that a rule or an alerting pipeline added.
        """
        steps = [self.labels, {n: v for n, v in self.labels.items() if n not in _WIDE}]
        if self.member is not None:
            named = {n: self.labels[n] for n in ("namespace", self.member) if n in self.labels}
            steps += [named, {self.member: self.labels[self.member]}]
        return tuple(Scope.of(step) for step in _once(steps) if step)


def pods_of(workload: str) -> str:
    """Write the pattern that the names of a workload's pods fit."""
    return _SPECIAL.sub(r"\\\g<0>", workload) + "-.+"


def _once(steps: list[Mapping[str, str]]) -> list[Mapping[str, str]]:
    return [step for n, step in enumerate(steps) if step not in steps[:n]]


_PRINTED = frozenset({"alertname", "severity", "priority", "level", "team", "owner"})


def _behind(labels: Mapping[str, str], name: str, value: str) -> tuple[str, str]:
    """Find the label a scope label was read from: by name, by value, or by what was cut off."""
    if labels.get(name) == value:
        return name, value
    same = [n for n in sorted(labels) if n not in _PRINTED and labels[n] == value]
    cut = [n for n in sorted(labels) if cut_port(labels[n]) == value]
    pods = ["pod"] if "pod" in labels and workload_of_pod(labels["pod"]) == value else []
    found = next(iter([*same, *cut, *pods]), name)
    return found, labels.get(found, value)
