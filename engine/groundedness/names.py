"""Names only the surroundings can tell: known label values, labels that say what follows."""

import re

from engine.groundedness.kinds import Indicator, IndicatorKind
from engine.groundedness.shapes import by_shape
from engine.groundedness.vocabulary import (
    ACCOUNT_KEYS,
    HOST_KEYS,
    NAMESPACE_KEYS,
    PLAIN_NAMES,
    POD_KEYS,
    SERVICE_KEYS,
    STATES,
)

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,252}")
_STRONG = frozenset(
    {
        IndicatorKind.UUID,
        IndicatorKind.HEX,
        IndicatorKind.URL,
        IndicatorKind.IP,
        IndicatorKind.POD,
        IndicatorKind.HOST,
        IndicatorKind.PATH,
        IndicatorKind.IMAGE,
        IndicatorKind.ACCOUNT,
    }
)
_PAIR_NAME = re.compile(r"[A-Za-z_][\w./-]{0,120}")
_PAIR_VALUE = re.compile(r"[\w.:%/+@-]{1,200}")


def label_kind(key: str) -> IndicatorKind | None:
    """Which kind the value of a label is, by the label's name."""
    plain = key.lower().lstrip("-")
    if plain in NAMESPACE_KEYS:
        return IndicatorKind.NAMESPACE
    if plain in SERVICE_KEYS:
        return IndicatorKind.SERVICE
    if plain in HOST_KEYS:
        return IndicatorKind.HOST
    if plain in ACCOUNT_KEYS:
        return IndicatorKind.ACCOUNT
    return IndicatorKind.POD if plain in POD_KEYS else None


def by_label(key: str, value: str) -> Indicator | None:
    """Read the value of a label that names its kind itself; words of a sentence are none."""
    kind = label_kind(key)
    if kind is None or value in PLAIN_NAMES or not _NAME.fullmatch(value) or value.isdigit():
        return None
    return Indicator(kind=kind, text=value)


def by_known(name: str, before: str, after: str) -> Indicator | None:
    """Read a label value of the evidence; one that is a plain word needs its label beside it."""
    beside = {before, after}
    spaces = not beside.isdisjoint({"namespace", "namespaces", "ns"})
    services = not beside.isdisjoint({"service", "deployment", "workload", "app"})
    if name in PLAIN_NAMES and not (spaces or services):
        return None
    kind = IndicatorKind.NAMESPACE if spaces else IndicatorKind.SERVICE
    return Indicator(kind=kind, text=name)


def by_pair(word: str) -> Indicator | None:
    """Read `name=value`: the value alone where it says what it is, else both."""
    name, _, value = word.partition("=")
    value = value.lstrip("=~")
    name = name.lstrip("-")
    if not _PAIR_NAME.fullmatch(name) or not _PAIR_VALUE.fullmatch(value):
        return None
    labelled = by_label(name, value)
    if labelled is not None:
        return labelled
    shaped = by_shape(value)
    if shaped is not None and shaped.kind in _STRONG:
        return shaped
    flag = word.startswith("--")
    return None if flag else Indicator(kind=IndicatorKind.PAIR, text=word)


def by_event(word: str, before: str) -> Indicator | None:
    """Read a one-word state: `Pending` anywhere, any capitalised word after `event`."""
    named = before in {"event", "reason"} and word.isalpha() and word.istitle()
    known = word in STATES or named
    return Indicator(kind=IndicatorKind.REASON, text=word) if known else None
