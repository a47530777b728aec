"""Amounts: numbers with their units, ranges, shares and counts in words."""

import re
from functools import lru_cache
from typing import NamedTuple

from engine.groundedness.kinds import Indicator, IndicatorKind
from engine.groundedness.vocabulary import (
    APPROXIMATE,
    CODE_WORDS,
    COUNTED,
    LONG_TIME,
    SHORT_TIME,
    SPELLED,
    UNITS,
)

_FIGURE = re.compile(
    r"(?P<about>[~≈<>≤≥]{0,2})=?(?P<low>\d[\d,]*(?:\.\d+)?)(?:[-\u2013](?P<high>\d[\d,]*(?:\.\d+)?))?"
    r"(?P<unit>%|[A-Za-zµμ°][A-Za-z/µμ]{0,11})?(?P<more>\+?)"
)
_SPELL = re.compile(r"[\d.]+(?:ms|us|µs|ns|[smhdw])[\dsmhdw.]*")
_RATIO = re.compile(r"(\d{1,9})/(\d{1,9})")
_NEXT_UNITS = LONG_TIME | UNITS | COUNTED | {"percent", "%"}
_FIRST = frozenset("0123456789~≈<>≤≥=")
_LONGEST_NUMBER = 40


class Figure(NamedTuple):
    """A number as it stands in a text."""

    text: str
    numbers: tuple[str, ...]
    unit: str
    about: bool


def number(text: str) -> str:
    """Bring a number to one spelling: `1,248.0` is `1248`."""
    plain = text.replace(",", "")
    if len(plain) > _LONGEST_NUMBER:
        return plain
    whole, _, part = plain.partition(".")
    told, digits = whole.lstrip("0") or "0", part.rstrip("0")
    return f"{told}.{digits}" if digits else told


@lru_cache(maxsize=4096)
def figure(text: str) -> Figure | None:
    """Read a word that is a number, a range or a ratio, with a unit stuck to it or without."""
    if ratio := _RATIO.fullmatch(text):
        return Figure(text, (number(ratio[1]), number(ratio[2])), "/", about=False)
    found = _FIGURE.fullmatch(text)
    if found is None or not _grouped(found["low"]):
        return None
    ends = tuple(number(end) for end in (found["low"], found["high"]) if end)
    about = bool(found["about"] or found["more"]) or len(ends) > 1
    return Figure(text, ends, found["unit"] or "", about)


def _grouped(digits: str) -> bool:
    """Whether commas stand where thousands end."""
    first, *groups = digits.partition(".")[0].split(",")
    return not groups or (0 < len(first) <= 3 and all(len(g) == 3 for g in groups))  # noqa: PLR2004


def starts_amount(text: str) -> bool:
    """Whether a word begins as amounts do."""
    return text[0] in _FIRST or text.lower() in SPELLED


def is_nothing(text: str) -> bool:
    """Whether it is a share of nothing, which beside a count in brackets says nothing more."""
    return text.endswith("%") and not text[:-1].strip("0.")


@lru_cache(maxsize=4096)
def amount(text: str, before: str, after: str, key: str) -> Indicator | None:
    """Say what amount a word is part of, given the words next to it.

    Args:
        text: the word.
        before: the word before it, in lower case.
        after: the word after it, when it is in the same phrase.
        key: the name the word is the value of, in lower case.
    """
    if text[0] not in _FIRST:
        return _in_words(text, before) if text.lower() in SPELLED else None
    if _SPELL.fullmatch(text) and figure(text) is None:
        return Indicator(kind=IndicatorKind.DURATION, text=text)
    seen = figure(text)
    if seen is None or (before == "all" and len(text) == 1):
        # All 3 pods: the news is that it is every one of them.
        return None
    if _names_code(before) or _names_code(key):
        return _code(seen)
    if before == "account" and text.isdigit():
        return Indicator(kind=IndicatorKind.ACCOUNT, text=text)
    return _measured(seen, after, about=seen.about or before in APPROXIMATE)


def _in_words(text: str, before: str) -> Indicator | None:
    if before in {"number", "step", "phase"}:
        return None
    return Indicator(kind=IndicatorKind.QUANTITY, text=text)


def _names_code(word: str) -> bool:
    return word.rpartition("_")[2] in CODE_WORDS or word.endswith("code")


def _code(seen: Figure) -> Indicator | None:
    # Zero is the code of everything that went well: it names nothing.
    plain = len(seen.numbers) == 1 and seen.unit in {"", "s"} and seen.numbers != ("0",)
    text = seen.text.rstrip("s")
    return Indicator(kind=IndicatorKind.CODE, text=text) if plain else None


def _measured(seen: Figure, after: str, *, about: bool) -> Indicator | None:
    """Read a number with its unit, stuck to it or in the next word."""
    unit, text = seen.unit, seen.text
    if not unit and (after in _NEXT_UNITS or _is_rate(after)):
        unit, text = after, f"{text} {after}"
    if unit in {"%", "percent"}:
        return Indicator(kind=IndicatorKind.PERCENT, text=text, derived=True)
    if unit == "m" and after.lower().startswith("cpu"):
        return Indicator(kind=IndicatorKind.QUANTITY, text=text, derived=about)
    if unit in (LONG_TIME if " " in text else SHORT_TIME):
        return Indicator(kind=IndicatorKind.DURATION, text=text, derived=about)
    if unit == "/" or unit in UNITS or unit in COUNTED or _is_rate(unit):
        return Indicator(kind=IndicatorKind.QUANTITY, text=text, derived=about)
    return None if unit else _bare(seen, about=about)


def _is_rate(unit: str) -> bool:
    """Whether it is so much of something in a time: `GB/min`, `requests/s`."""
    what, slash, time = unit.partition("/")
    return bool(slash) and time in LONG_TIME and (what in UNITS or what in COUNTED)


def _bare(seen: Figure, *, about: bool) -> Indicator | None:
    """Take a number by itself only where it is large or exact enough to mean something."""
    digits = seen.text.lstrip("~≈<>≤≥=+")
    if digits[0] == "0" and digits[1:2].isdigit():
        return None
    large = "." in digits or len(seen.numbers) > 1 or len(seen.numbers[0]) > 1
    return Indicator(kind=IndicatorKind.QUANTITY, text=seen.text, derived=about) if large else None
