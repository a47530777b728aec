"""Points in time as text spells them, brought to one spelling in UTC."""

import re
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import NamedTuple

_CLOCK = r"(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?"
_ZONE = r"(Z|UTC|GMT|[+-]\d{2}:?\d{2})?"
TIME = re.compile(rf"{_CLOCK}{_ZONE}", re.IGNORECASE)
DATE = re.compile(r"(\d{4})[-/](\d{2})[-/](\d{2})")
FULL = re.compile(rf"(\d{{4}})[-/](\d{{2}})[-/](\d{{2}})[T_]{_CLOCK}{_ZONE}", re.IGNORECASE)
_LAST = frozenset("zZcCtT")
"""What a zone's name ends in."""
MONTHS = {
    name: number
    for number, name in enumerate(
        ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"],
        start=1,
    )
}


class Moment(NamedTuple):
    """A point in time; either part may be unsaid."""

    day: str
    """`2026-04-18`, `04-18` without a year, empty without a date."""
    clock: str
    """`10:45:00` in UTC, with the digits of a fraction that are not zero; empty for a day."""


def span(text: str) -> tuple[str, str] | None:
    """Part `15:08-15:12Z` into its ends; the second end's zone is the first one's too."""
    first, dash, last = text.partition("-")
    if not dash or not (begin := TIME.fullmatch(first)) or not (end := TIME.fullmatch(last)):
        return None
    return first if begin[5] else first + (end[5] or ""), last


@lru_cache(maxsize=4096)
def moment(text: str) -> Moment | None:
    """Read `10:42Z`, `2026-04-18T10:42:00Z`, `2026-04-18 10:42`, `Oct 19 00:13:18` or a date."""
    if not text[-1:].isdigit() and text[-1:] not in _LAST:
        return None
    day, _, clock = text.rpartition(" ")
    if day:
        return _two_words(day, clock)
    if whole := FULL.fullmatch(text):
        return _shifted(whole.group(1, 2, 3), whole.group(4, 5, 6, 7), whole[8] or "")
    if date := DATE.fullmatch(text):
        return _shifted(date.group(1, 2, 3), None, "")
    if time := TIME.fullmatch(text):
        return _shifted(None, time.group(1, 2, 3, 4), time[5] or "")
    return None


def _two_words(day: str, clock: str) -> Moment | None:
    if date := DATE.fullmatch(day):
        time = TIME.fullmatch(clock)
        parts = time.group(1, 2, 3, 4) if time else None
        return _shifted(date.group(1, 2, 3), parts, time[5] or "" if time else "")
    named, time_only = _named_day(day), moment(clock)
    if named is None or time_only is None or time_only.day:
        return None
    return Moment(named, time_only.clock)


def _named_day(text: str) -> str | None:
    name, _, number = text.partition(" ")
    month = MONTHS.get(name.lower()[:3])
    number = number.strip()
    return f"{month:02d}-{int(number):02d}" if month and re.fullmatch(r"\d{1,2}", number) else None


def _shifted(
    date: tuple[str, ...] | None, clock: tuple[str | None, ...] | None, zone: str
) -> Moment | None:
    """Move to UTC; a time without a zone is taken as UTC, and one that is none is refused."""
    hour, minute, second, fraction = clock or ("0", "0", "0", "")
    year, month, day = map(int, date) if date else (2000, 1, 15)
    try:
        at = datetime(
            year, month, day, int(hour or 0), int(minute or 0), int(second or 0), tzinfo=UTC
        )
        at -= _offset(zone)
    except (ValueError, OverflowError):
        return None
    digits = (fraction or "").rstrip("0")
    told = f"{at:%H:%M:%S}" + (f".{digits}" if digits else "")
    return Moment(f"{at:%Y-%m-%d}" if date else "", told if clock else "")


def _offset(zone: str) -> timedelta:
    if not zone or zone[0] not in "+-":
        return timedelta()
    digits = zone[1:].replace(":", "")
    ahead = timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
    return ahead if zone[0] == "+" else -ahead
