"""What a question is about: names that label values bear, and the time it speaks of."""

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta

from engine.model.inquiry import Scope

USUAL = timedelta(hours=1)
LONGEST = timedelta(hours=24)
MOST_CHOICES = 3
LEAST_NAME = 3
"""Shorter values are words of every sentence."""
RANKS = ("service", "workload", "deployment", "host", "node", "job", "namespace")
"""Labels that say where something is, the most telling first; others are not looked at."""
_WORD = re.compile(r"[\w][\w.\-]*")
_SPAN = re.compile(
    r"\b(?:last|past|previous|for|since)\s+(?:(\d+|an?(?:\s+few)?|few)\s*)?"
    r"(minutes?|mins?|m|hours?|hrs?|h|days?|d)\b",
    re.IGNORECASE,
)
_CLOCK = re.compile(r"\b(?:since|from|after)\s+([01]?\d|2[0-3])[:.]([0-5]\d)\b", re.IGNORECASE)
_UNIT = {"m": timedelta(minutes=1), "h": timedelta(hours=1), "d": timedelta(days=1)}
_FEW = 3


def window(text: str, now: datetime) -> tuple[datetime, datetime]:
    """The time a question speaks of; the last hour when it says nothing. Times are UTC."""
    clock = _CLOCK.search(text)
    if clock is not None:
        at = now.replace(hour=int(clock[1]), minute=int(clock[2]), second=0, microsecond=0)
        return (at if at < now else at - timedelta(days=1)), now
    span = _SPAN.search(text)
    if span is None:
        return now - USUAL, now
    number = (span[1] or "1").lower().split()[-1]
    times = {"a": 1, "an": 1, "few": _FEW}.get(number) or int(number) or 1
    asked = min(times, 10_000) * _UNIT[span[2][0].lower()]
    return now - min(max(asked, timedelta(minutes=5)), LONGEST), now


def scopes(text: str, known: Iterable[Mapping[str, str]]) -> Sequence[Scope]:
    """What a question may be about, likeliest first: one when it is plain, several when it is not.

    Args:
        text: the question.
        known: label sets of what there is; only values that stand in one of them are names.
    """
    words = {word.lower().strip(".-") for word in _WORD.findall(text)}
    named = [(labels, _named(labels, words)) for labels in known]
    most = max((len(hit) for _, hit in named), default=0)
    if most:
        telling = [_in_namespace(hit, labels) for labels, hit in named if len(hit) == most]
        return _most_telling(_unique(telling))
    begun = [_begun(labels, words) for labels in known]
    return _unique(scope for scope in begun if scope)[:MOST_CHOICES]


def _named(labels: Mapping[str, str], words: set[str]) -> dict[str, str]:
    """Labels whose value is a word of the question; a name two labels bear counts once."""
    hit: dict[str, str] = {}
    for name, value in _placed(labels).items():
        if value.lower() in words and value not in hit.values():
            hit[name] = value
    return hit


def _begun(labels: Mapping[str, str], words: set[str]) -> dict[str, str]:
    """The same for values that begin with a word: `checkout` for `checkout-api`."""
    for name, value in _placed(labels).items():
        first = re.split(r"[-_.]", value.lower())[0]
        if len(first) >= LEAST_NAME and first in words:
            return _in_namespace({name: value}, labels)
    return {}


def _placed(labels: Mapping[str, str]) -> dict[str, str]:
    return {n: labels[n] for n in RANKS if len(labels.get(n, "")) >= LEAST_NAME}


def _in_namespace(hit: dict[str, str], labels: Mapping[str, str]) -> dict[str, str]:
    """What was named, with the namespace it stands in; hosts stand in none."""
    placed = "namespace" in labels and not {"host", "node"} & hit.keys()
    return {**hit, "namespace": labels["namespace"]} if hit and placed else hit


def _most_telling(found: Sequence[Scope]) -> Sequence[Scope]:
    """A service is more telling than the namespace that bears its name."""
    best = min(_rank(scope) for scope in found)
    return [scope for scope in found if _rank(scope) == best][:MOST_CHOICES]


def _rank(scope: Scope) -> int:
    return min(RANKS.index(name) for name in scope)


def _unique(found: Iterable[Scope]) -> list[Scope]:
    seen: dict[tuple[tuple[str, str], ...], Scope] = {}
    for scope in found:
        seen.setdefault(tuple(sorted(scope.items())), scope)
    return sorted(seen.values(), key=lambda scope: (_rank(scope), sorted(scope.values())))
