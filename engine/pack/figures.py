"""Numbers as a person reads them: three figures and a unit."""

import re
from collections.abc import Mapping
from datetime import datetime

_BYTES = ((2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB"))
_MINUTE_S, _HOUR_S, _DAY_S = 60, 3600, 86400
_THOUSAND = 1000


def figure(value: float, unit: str = "") -> str:
    """Round a value and name its unit: `480 MiB`, `1.2 s`, `23.1%`, `20`."""
    match unit:
        case "B":
            size, name = next(((s, n) for s, n in _BYTES if abs(value) >= s), (1, "B"))
            return f"{_short(value / size)} {name}"
        case "ratio":
            return f"{_short(value * 100)}%"
        case "s":
            return f"{_short(value * 1000)} ms" if 0 < abs(value) < 1 else f"{_short(value)} s"
        case "/s":
            return f"{_short(value)}/s"
        case _:
            return _short(value)


def _short(value: float) -> str:
    if value == int(value) or abs(value) >= _THOUSAND:
        return f"{value:.0f}"
    return f"{value:.3g}"


def unit_of(metric: str) -> str:
    """Read a unit off a metric's name."""
    if re.search(r"_bytes(_|$)", metric):
        return "B"
    if re.search(r"_seconds(_|$)", metric):
        return "s"
    return "ratio" if metric.endswith("_ratio") else ""


def moment(at: datetime) -> str:
    """Give a time of day in UTC."""
    return f"{at:%H:%M:%SZ}" if at.second else f"{at:%H:%MZ}"


def span(seconds: float) -> str:
    """Give a length of time in its two largest units: `2 min 5 s`, `3 h`, `12 d 4 h`."""
    left = round(abs(seconds))
    parts = []
    for size, name in ((_DAY_S, "d"), (_HOUR_S, "h"), (_MINUTE_S, "min"), (1, "s")):
        count, left = divmod(left, size)
        if count:
            parts.append(f"{count} {name}")
    return " ".join(parts[:2]) or "0 s"


def offset(seconds: float, what: str) -> str:
    """Say where a moment stands to another: `4 min before onset`."""
    if round(seconds) == 0:
        return f"at {what}"
    return f"{span(seconds)} {'before' if seconds < 0 else 'after'} {what}"


def labelled(labels: Mapping[str, str]) -> str:
    """Write labels as a reader knows them: `{service=checkout-api}`; nothing for none."""
    inside = ", ".join(f"{name}={labels[name]}" for name in sorted(labels))
    return f"{{{inside}}}" if inside else ""
