"""Traces a change leaves in metrics: a new image, a new version label, a later process start."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from engine.model.change import Change
from engine.model.evidence import Series
from engine.model.pack import ChangeKind
from engine.pack.scope import Scope
from engine.promql.selectors import selector

SOURCE = "metrics"
_IMAGES = "kube_pod_container_info"
_STARTS = "process_start_time_seconds"
_VERSIONS = ("version", "revision", "tag", "commit", "git_commit")
_MOST_BUILDS = 3
_LEAST_JUMP_S = 1.0
_LONGEST = 120

Reader = Callable[[Sequence[Series], Scope], Iterable[Change]]


class Trace(NamedTuple):
    """One question and how its answer is read."""

    query: str
    read: Reader


def traces(names: Sequence[str], scope: Scope) -> list[Trace]:
    """Choose the questions that this scope's metrics can answer."""
    if not scope.labels:
        return []
    asked = []
    if "namespace" in scope.labels:
        here = selector(_IMAGES, {"namespace": scope.labels["namespace"]})
        asked.append(Trace(f"count by (namespace, container, image) ({here})", _images))
    for name in [n for n in names if n.endswith("_build_info")][:_MOST_BUILDS]:
        labels = ", ".join(filter(None, (scope.member, *_VERSIONS)))
        asked.append(Trace(f"count by ({labels}) ({scope.peers(name)})", _builds))
    if _STARTS in names:
        asked.append(Trace(f"max {scope.by} ({scope.peers(_STARTS)})", _starts))
    return asked


def _images(lines: Sequence[Series], scope: Scope) -> Iterable[Change]:
    del scope
    for before, after in _replaced(lines, "container"):
        what = f"{before.labels.get('image', '')} → {after.labels.get('image', '')}"
        component = after.labels.get("container", "")
        yield _change(ChangeKind.IMAGE, after.points[0][0], component, what, after.labels)


def _builds(lines: Sequence[Series], scope: Scope) -> Iterable[Change]:
    member = scope.member or ""
    for before, after in _replaced(lines, member):
        what = f"{_version(before.labels)} → {_version(after.labels)}"
        component = after.labels.get(member, "") or scope.labels.get(member, "")
        yield _change(ChangeKind.BUILD, after.points[0][0], component, what, after.labels)


def _starts(lines: Sequence[Series], scope: Scope) -> Iterable[Change]:
    """The value is when the newest process started; a later one means a start in the window."""
    for series in lines:
        component = series.labels.get(scope.member or "", "") or "process"
        for (_, before), (_, after) in zip(series.points, series.points[1:], strict=False):
            if after - before > _LEAST_JUMP_S:
                yield _change(
                    ChangeKind.RESTART, after, component, "a process started", series.labels
                )


def _replaced(lines: Sequence[Series], component: str) -> Iterable[tuple[Series, Series]]:
    """Pair each series that appeared inside the window with the one it came after."""
    for series in lines:
        begins = series.points[0][0]
        earlier = [
            other
            for other in lines
            if other.labels.get(component) == series.labels.get(component)
            and other.points[0][0] < begins
        ]
        if earlier:
            yield max(earlier, key=lambda other: (other.points[0][0], other.points[-1][0])), series


def _version(labels: Mapping[str, str]) -> str:
    return next((labels[name] for name in _VERSIONS if labels.get(name)), "?")


def _change(
    kind: ChangeKind, at_s: float, component: str, what: str, labels: Mapping[str, str]
) -> Change:
    return Change(
        source=SOURCE,
        kind=kind,
        at=datetime.fromtimestamp(at_s, UTC),
        component=component or "unknown",
        what=what[:_LONGEST],
        labels=labels or {"source": SOURCE},
    )
