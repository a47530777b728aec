"""How long a provider asks us to wait."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from email.utils import parsedate_to_datetime

from engine.failures import LONGEST_HINT_S

_SAID = re.compile(
    r"(?:try again|retry|wait)(?: your request)? (?:in|after|for) (\d{1,6}(?:\.\d{1,6})?) ?"
    r"(ms|milliseconds?|s|sec|seconds?|m|min|minutes?)\b",
    re.IGNORECASE,
)
_PLAIN = re.compile(r"\d{1,9}(?:\.\d{1,6})?", re.ASCII)


def hint_s(
    headers: Mapping[str, str], waits: Sequence[float], words: Sequence[str]
) -> float | None:
    """Give the longest wait asked for, at most a quarter of an hour; None when none was.

    Zero, negative, past and infinite hints are none.
    """
    said = (*_in_headers(headers), *waits, *_in_words(words))
    usable = [wait for wait in said if math.isfinite(wait) and wait > 0]
    return min(max(usable), LONGEST_HINT_S) if usable else None


def _in_headers(headers: Mapping[str, str]) -> Iterator[float]:
    plain = {name.lower(): str(value).strip() for name, value in headers.items()}
    for name, scale in (("retry-after", 1.0), ("retry-after-ms", 0.001)):
        value = plain.get(name, "")
        if _PLAIN.fullmatch(value):
            yield float(value) * scale
    ahead = _date(plain.get("retry-after", ""))
    now = _date(plain.get("date", ""))
    if ahead and now:
        yield (ahead - now).total_seconds()


def _date(text: str) -> datetime | None:
    """Read an HTTP date; one without a zone is none."""
    try:
        at = parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return at if at.tzinfo else None


def _in_words(words: Sequence[str]) -> Iterator[float]:
    for said in words:
        for amount, unit in _SAID.findall(said):
            small = unit.lower()
            scale = 0.001 if small.startswith(("ms", "mil")) else 60 if small[0] == "m" else 1
            yield float(amount) * scale
