"""From a probe's answer to digests: the failing one beside its peers, and peers that moved too."""

from collections.abc import Sequence
from datetime import UTC, datetime
from statistics import median

from engine.model.evidence import Answered, Outcome, Series
from engine.model.pack import Anchor, MetricDigest, Signal
from engine.onset import change_point
from engine.pack.families import Probe
from engine.pack.figures import figure, labelled, moment
from engine.pack.scope import Scope
from engine.series import summarise

OWN_NAME = "alert expression"
MOVED = 4.0
"""Deviation from which a metric is said to have moved."""
FULL = 0.95
"""Share of a ceiling from which there is no room left."""


def own_digest(series: Series, query: str, anchor: Anchor, baseline_s: float) -> MetricDigest:
    """Digest the alert's own expression."""
    return _digest(
        Probe(name=OWN_NAME, query=query, signal=Signal.OTHER), series, anchor, baseline_s
    )


def digests(
    probe: Probe,
    answer: Answered,
    limits: Outcome | None,
    *,
    scope: Scope,
    anchor: Anchor,
    baseline_s: float,
) -> list[MetricDigest]:
    """Digest the failing one, then the peers that moved, the wildest first."""
    lines = answer.results["value"]
    own = [series for series in lines if scope.is_own(series.labels)]
    others = [series for series in lines if not scope.is_own(series.labels)]
    peers = median(series.last for series in others) if others else None
    found = [
        _digest(probe, series, anchor, baseline_s).model_copy(
            update={"limit": _limit(probe, limits, series), "peers": peers}
        )
        for series in own
    ]
    moved = [
        _digest(probe, series, anchor, baseline_s).model_copy(
            update={"limit": _limit(probe, limits, series), "peer": True}
        )
        for series in others
    ]
    return found + sorted(
        (digest for digest in moved if abs(digest.deviation or 0) >= MOVED),
        key=lambda digest: (-abs(digest.deviation or 0), sorted(digest.labels.items())),
    )


def _digest(probe: Probe, series: Series, anchor: Anchor, baseline_s: float) -> MetricDigest:
    onset_s = anchor.onset_at.timestamp()
    numbers = summarise(series, onset_s, baseline_s)
    changed = change_point(series.points, onset_s)
    return MetricDigest(
        name=probe.name,
        query=probe.query,
        labels=series.labels,
        **numbers.model_dump(),
        changed_at=datetime.fromtimestamp(changed, UTC) if changed else None,
        unit=probe.unit.strip(),
        signal=probe.signal,
        own_expression=probe.name == OWN_NAME,
    )


def _limit(probe: Probe, limits: Outcome | None, series: Series) -> float | None:
    """Give the ceiling of the same group; one that is not positive means that none is set."""
    if probe.signal is Signal.SATURATION and probe.limit is None:
        return 1.0
    if not isinstance(limits, Answered):
        return None
    same = [s.last for s in limits.results["value"] if s.labels == series.labels]
    return same[0] if same and same[0] > 0 else None


def share(digest: MetricDigest) -> float | None:
    """How much of its ceiling is used now, 0 to 1."""
    return digest.last / digest.limit if digest.limit else None


def order(digest: MetricDigest) -> tuple[object, ...]:
    """Sort what has no room left first, then by deviation, then by distance to its peers."""
    full = (share(digest) or 0) >= FULL
    told_apart = (-abs(digest.deviation or 0), -_contrast(digest))
    return (not full, *told_apart, digest.name, sorted(digest.labels.items()))


def _contrast(digest: MetricDigest) -> float:
    """How far a digest is from its peers: 0 alike, 1 nothing in common."""
    if digest.peers is None:
        return 0.0
    larger = max(abs(digest.last), abs(digest.peers))
    return abs(digest.last - digest.peers) / larger if larger else 0.0


def said(digest: MetricDigest, limit_name: str = "") -> str:
    """Put a digest into one plain line."""
    now = figure(digest.last, digest.unit)
    used = share(digest)
    if used is not None and limit_name:
        ceiling = figure(digest.limit or 0, digest.unit)
        now = f"{now} of {limit_name} {ceiling} ({figure(used, 'ratio')})"
    who = "peer " if digest.peer else ""
    return f"{who}{digest.name}{labelled(digest.labels)} {', '.join([now, *_context(digest)])}"


def _context(digest: MetricDigest) -> Sequence[str]:
    """Say what the newest value is compared with."""
    parts = []
    if digest.baseline is None:
        parts.append("no baseline before onset")
    else:
        parts.append(f"baseline {figure(digest.baseline, digest.unit)}")
    if digest.deviation is not None and abs(digest.deviation) >= MOVED:
        parts.append(f"{digest.deviation:+.0f} deviations")
    if digest.changed_at is not None:
        parts.append(f"changed {moment(digest.changed_at)}")
    if digest.peers is not None:
        parts.append(f"peers {figure(digest.peers, digest.unit)}")
    return parts
