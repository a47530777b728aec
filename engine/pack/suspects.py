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
_WILD = 50.0
"""Deviation that is as good as any larger one."""
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
_SYMPTOMS = frozenset({Signal.ERRORS, Signal.LATENCY, Signal.TRAFFIC, Signal.UP})
"""On what fails itself these restate the alert; traffic only where it fell."""


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
        case _:
            return []


def _change(item: Item, change: ChangeFacts, anchor: Anchor) -> list[Suspect]:
    """Suspect what changed before onset; a change after it cannot have caused it."""
    age_s = -change.onset_offset_s
    if age_s < -SLACK_S:
        return []
    own, foreign = _CHANGE_WEIGHT[change.change]
    weight = own if _is_own(change.component, change.labels, anchor) else foreign
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
    if not _is_own("", digest.labels, anchor):
        score -= 0.1
    return [_metric(item, digest, anchor, min(score, 0.88), SuspectReason.AT_ITS_LIMIT)]


def _moved(item: Item, digest: MetricDigest, anchor: Anchor) -> list[Suspect]:
    """Suspect what moved most, the more so when it moved first and its peers did not."""
    moved = abs(digest.deviation or 0)
    own = _is_own("", digest.labels, anchor)
    if digest.own_expression or moved < MOVED or (own and _restates(digest)):
        return []
    score = 0.3 + 0.3 * math.log(min(moved, _WILD) / MOVED) / math.log(_WILD / MOVED)
    if digest.changed_at is not None:
        late_s = (digest.changed_at - anchor.onset_at).total_seconds()
        if late_s > SLACK_S:
            return []
        score += 0.1
    return [_metric(item, digest, anchor, score, SuspectReason.DEVIATED_BEFORE)]


def _restates(digest: MetricDigest) -> bool:
    rose = (digest.deviation or 0) > 0
    return digest.signal in _SYMPTOMS and not (digest.signal is Signal.TRAFFIC and rose)


def _metric(
    item: Item, digest: MetricDigest, anchor: Anchor, score: float, reason: SuspectReason
) -> Suspect:
    own = _is_own("", digest.labels, anchor)
    member = next((digest.labels[n] for n in sorted(digest.labels) if digest.labels[n]), None)
    return Suspect(
        component=(member or anchor.service or digest.name),
        cause_class=_class_of(digest, own=own),
        score=round(score, 3),
        reasons=(reason,),
        text=item.text,
        evidence_ids=(item.id,),
    )


def _class_of(digest: MetricDigest, *, own: bool) -> CauseClass:
    match digest.signal:
        case Signal.SATURATION | Signal.MEMORY | Signal.CPU | Signal.QUEUE | Signal.RESTARTS:
            return CauseClass.RESOURCE_EXHAUSTION
        case Signal.TRAFFIC:
            return CauseClass.TRAFFIC
        case Signal.ERRORS | Signal.LATENCY | Signal.UP:
            return CauseClass.CODE_FAULT if own else CauseClass.DEPENDENCY
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
            "score": round(min(1.0, best.score + _AGREES * (len(ordered) - 1)), 3),
            "reasons": tuple(dict.fromkeys(r for s in ordered for r in s.reasons)),
            "evidence_ids": tuple(dict.fromkeys(i for s in ordered for i in s.evidence_ids)),
        }
    )


def _is_own(component: str, labels: Mapping[str, str], anchor: Anchor) -> bool:
    """Whether something is part of what fails: by name, or by every scope label it carries."""
    if anchor.service is not None and component == anchor.service:
        return True
    scope = anchor.grouping_key
    both = [name for name in labels if name in scope]
    return bool(both) and all(labels[name] == scope[name] for name in both)
