"""Who is suspected: candidate causes ranked from the pack alone, without a model."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from engine.model.alert import AlertClass
from engine.model.incident import Incident, JoinReason
from engine.model.pack import (
    AlertFacts,
    Anchor,
    CauseClass,
    ChangeFacts,
    ChangeKind,
    Item,
    MetricDigest,
    PriorFacts,
    Section,
    Signal,
    Suspect,
    SuspectReason,
)
from engine.pack.changed import SHIPPED
from engine.pack.digests import FULL, MOVED, share
from engine.pack.figures import labelled

MOST_SUSPECTS: Final = 5
SLACK_S: Final = 60.0
"""How much after onset a change may be seen and still have come before: metrics have steps."""
_FRESH_S = 600.0
"""A change this close before onset loses nothing by its age."""
_FADES_S = 5400.0
"""After this much more it counts a third (1/e)."""
_LEAST, _MOST_GAIN, _IN_TIME = 0.3, 0.35, 0.1
"""Score of what just moved, what the wildest move adds, and a known time not after onset."""
_AGREES = 0.03
"""Gain of a suspect for each further piece of evidence that names it."""

_CHANGE_WEIGHT: Final[Mapping[ChangeKind, tuple[float, float]]] = {
    ChangeKind.DEPLOY: (0.92, 0.5),
    ChangeKind.IMAGE: (0.9, 0.45),
    ChangeKind.BUILD: (0.9, 0.45),
    ChangeKind.CONFIG: (0.85, 0.5),
    ChangeKind.CLOUD: (0.7, 0.5),
    ChangeKind.OTHER: (0.6, 0.3),
    ChangeKind.RESTART: (0.45, 0.2),
}
"""Score of a fresh change to what fails, and to something else."""
_ALIKE: Final = 0.65
"""Score of what was the cause of a case that looked the same; likeness alone proves little."""
_SYMPTOMS = frozenset({Signal.ERRORS, Signal.LATENCY, Signal.UP})
"""On what fails itself these restate the alert."""
_WORSE: Final = {Signal.UP: -1}
"""Which way is worse, where that is not up."""
_TELLING: Final = {Signal.TRAFFIC: 0.6, Signal.OTHER: 0.7, Signal.RESTARTS: 0.8}
"""Weight of a move: traffic and restarts follow a failure as often as they cause it."""


def rank(
    anchor: Anchor,
    sections: Iterable[Section],
    *,
    common: Mapping[str, str] | None = None,
    floor: float,
) -> tuple[Suspect, ...]:
    """Rank candidate causes, best first; none when none reaches the floor.

    Args:
        anchor: when it began and what fails.
        sections: the pack's sections.
        common: labels that what went bad was found to share.
        floor: least score of a suspect that stands out.
    """
    items = [item for section in sections for item in section.items]
    found = [suspect for item in items for suspect in _of(item, anchor)]
    found += _common(items, common or {})
    together: dict[tuple[str, CauseClass], list[Suspect]] = {}
    for suspect in found:
        together.setdefault((suspect.component, suspect.cause_class), []).append(suspect)
    merged = [_merged(suspects) for suspects in together.values()]
    ranked = sorted(merged, key=lambda s: (-s.score, s.component, s.cause_class))
    return tuple(s for s in ranked if s.score >= floor)[:MOST_SUSPECTS]


def common_labels(incident: Incident) -> dict[str, str]:
    """Give what the members were found to share beyond their scope: a node, an image, a zone."""
    shared: dict[str, str] = {}
    for member in incident.members:
        if member.reason is JoinReason.COMMON_DENOMINATOR:
            shared |= member.shared
    return dict(sorted(shared.items()))


def _of(item: Item, anchor: Anchor) -> list[Suspect]:
    match item.facts:
        case ChangeFacts() as change:
            return _change(item, change, anchor)
        case MetricDigest() as digest:
            return _full(item, digest, anchor) or _moved(item, digest, anchor)
        case AlertFacts(alert_class=AlertClass.CAUSE) as alert:
            return _cause_alert(item, alert)
        case PriorFacts(held=True) as prior:
            return [_prior(item, prior)]
        case _:
            return []


def _change(item: Item, change: ChangeFacts, anchor: Anchor) -> list[Suspect]:
    """Suspect what changed before onset; a change after it cannot have caused it."""
    age_s = -change.onset_offset_s
    if age_s < -SLACK_S:
        return []
    own, foreign = _CHANGE_WEIGHT[change.change]
    weight = own if _is_own(change, anchor) else foreign
    cause = {
        ChangeKind.CONFIG: CauseClass.CONFIG_CHANGE,
        ChangeKind.CLOUD: CauseClass.CLOUD_PROVIDER,
    }
    told = change.change is ChangeKind.CONFIG
    reason = SuspectReason.CONFIG_CHANGED if told else SuspectReason.CHANGED_NEAR_ONSET
    return [
        Suspect(
            component=change.component,
            cause_class=cause.get(change.change, CauseClass.DEPLOY)
            if change.change in {*SHIPPED, *cause}
            else CauseClass.OTHER,
            score=round(weight * math.exp(-max(age_s - _FRESH_S, 0) / _FADES_S), 3),
            reasons=(reason,),
            text=item.text,
            evidence_ids=(item.id,),
        )
    ]


def _full(item: Item, digest: MetricDigest, anchor: Anchor) -> list[Suspect]:
    """Suspect what has no room left, less so where it never had or its peers have none either."""
    used = share(digest)
    if used is None or used < FULL:
        return []
    score = 0.45
    before = digest.baseline / digest.limit if digest.baseline and digest.limit else None
    if before is not None and before < FULL:
        score += 0.3
    if digest.peers is not None and digest.limit and digest.peers / digest.limit < FULL:
        score += 0.2
    if digest.peer:
        score -= 0.1
    return [_metric(item, digest, anchor, min(score, 0.88), SuspectReason.AT_ITS_LIMIT)]


def _moved(item: Item, digest: MetricDigest, anchor: Anchor) -> list[Suspect]:
    """Suspect what moved most for the worse, the more so when it did not move late."""
    moved = (digest.deviation or 0) * _WORSE.get(digest.signal, 1)
    if digest.signal is Signal.OTHER:
        moved = abs(moved)
    restates = not digest.peer and digest.signal in _SYMPTOMS
    if digest.own_expression or restates or moved < MOVED:
        return []
    score = _LEAST + _MOST_GAIN * (1 - MOVED / moved) * _TELLING.get(digest.signal, 1)
    if digest.changed_at is not None:
        late_s = (digest.changed_at - anchor.onset_at).total_seconds()
        if late_s > SLACK_S:
            return []
        score += _IN_TIME
    return [_metric(item, digest, anchor, score, SuspectReason.DEVIATED_BEFORE)]


def _metric(
    item: Item, digest: MetricDigest, anchor: Anchor, score: float, reason: SuspectReason
) -> Suspect:
    member = next((digest.labels[n] for n in sorted(digest.labels) if digest.labels[n]), None)
    return Suspect(
        component=(member if digest.peer else anchor.service or member) or digest.name,
        cause_class=_class_of(digest),
        score=round(score, 4),
        reasons=(reason,),
        text=item.text,
        evidence_ids=(item.id,),
    )


def _class_of(digest: MetricDigest) -> CauseClass:
    match digest.signal:
        case Signal.SATURATION | Signal.MEMORY | Signal.CPU | Signal.QUEUE | Signal.RESTARTS:
            return CauseClass.RESOURCE_EXHAUSTION
        case Signal.TRAFFIC:
            return CauseClass.TRAFFIC
        case Signal.ERRORS | Signal.LATENCY | Signal.UP:
            return CauseClass.DEPENDENCY if digest.peer else CauseClass.CODE_FAULT
        case Signal.OTHER:
            return CauseClass.OTHER


_CAUSES: Final = (
    (re.compile(r"cert|tls", re.IGNORECASE), CauseClass.CERTIFICATE),
    (re.compile(r"dns|coredns", re.IGNORECASE), CauseClass.DNS),
    (
        re.compile(r"memory|oom|disk|filesystem|cpu|inode|descriptor", re.IGNORECASE),
        CauseClass.RESOURCE_EXHAUSTION,
    ),
    (
        re.compile(r"postgres|mysql|redis|mongo|database|replica", re.IGNORECASE),
        CauseClass.DATABASE,
    ),
    (re.compile(r"network|interface|packet|bgp|link", re.IGNORECASE), CauseClass.NETWORK),
    (re.compile(r"node|host|kubelet|instance", re.IGNORECASE), CauseClass.NODE),
)


def _cause_alert(item: Item, alert: AlertFacts) -> list[Suspect]:
    named = ("node", "host", "instance", "device", "database", "service", "namespace")
    component = next((alert.labels[n] for n in named if alert.labels.get(n)), alert.rule)
    cause = next((c for pattern, c in _CAUSES if pattern.search(alert.rule)), CauseClass.OTHER)
    return [
        Suspect(
            component=component,
            cause_class=cause,
            score=0.8 if alert.firing else 0.5,
            reasons=(SuspectReason.CAUSE_ALERT,),
            text=item.text,
            evidence_ids=(item.id,),
        )
    ]


def _prior(item: Item, prior: PriorFacts) -> Suspect:
    """Suspect what it was the last time, the more the more alike it looks."""
    return Suspect(
        component=prior.component,
        cause_class=prior.cause_class,
        score=round(max(_ALIKE - prior.distance, 0), 4),
        reasons=(SuspectReason.FIXED_IT_BEFORE,),
        text=item.text,
        evidence_ids=(item.id,),
    )


def _common(items: Sequence[Item], common: Mapping[str, str]) -> list[Suspect]:
    ids = tuple(item.id for item in items if isinstance(item.facts, AlertFacts))
    cause = {"node": CauseClass.NODE, "instance": CauseClass.NODE, "host": CauseClass.NODE}
    cause |= {"image": CauseClass.DEPLOY, "database": CauseClass.DATABASE}
    return [
        Suspect(
            component=value,
            cause_class=cause.get(name, CauseClass.OTHER),
            score=0.7,
            reasons=(SuspectReason.COMMON_DENOMINATOR,),
            text=f"what went bad shares {labelled({name: value})}",
            evidence_ids=ids,
        )
        for name, value in common.items()
    ]


def _merged(suspects: Sequence[Suspect]) -> Suspect:
    """Make one suspect of all that is held against one component and class."""
    ordered = sorted(suspects, key=lambda s: (-s.score, s.evidence_ids))
    best = ordered[0]
    return best.model_copy(
        update={
            "score": round(min(1.0, best.score + _AGREES * (len(ordered) - 1)), 4),
            "reasons": tuple(dict.fromkeys(r for s in ordered for r in s.reasons)),
            "evidence_ids": tuple(dict.fromkeys(i for s in ordered for i in s.evidence_ids)),
        }
    )


def _is_own(change: ChangeFacts, anchor: Anchor) -> bool:
    """Whether a change is to what fails: by its component's name or by a label's value.

    `checkout` and `checkout-api` are one: pipelines and metrics rarely agree on the whole name.
    """
    failing = {value for name, value in anchor.grouping_key.items() if name not in _WIDE}
    failing |= {name for name in (anchor.service, anchor.host) if name}
    named = {change.component, *change.labels.values()}
    return bool(named & failing) or any(_begins(one, other) for one in failing for other in named)


_WIDE = frozenset({"namespace", "cluster", "environment", "region"})
"""Labels that many components share."""


def _begins(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    return bool(short) and long.startswith(f"{short}-")
