"""Numbers as people say them: durations, counts, shares, quantities with units."""

import math

MINUTE_S, HOUR_S, DAY_S = 60, 3600, 86_400
BYTES = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")
MOST = 1e15
TIMES = "\u00d7"
"""The sign of multiplication: 4 times."""


def duration(seconds: float) -> str:
    """A stretch of time in its two largest units."""
    whole = round(min(abs(seconds), MOST))
    if whole < 2 * MINUTE_S:
        return f"{whole} s"
    if whole < 2 * HOUR_S:
        return f"{whole // MINUTE_S} min"
    if whole < 2 * DAY_S:
        minutes = whole % HOUR_S // MINUTE_S
        return f"{whole // HOUR_S} h {minutes:02d} min" if minutes else f"{whole // HOUR_S} h"
    hours = whole % DAY_S // HOUR_S
    days = whole // DAY_S
    return f"{days} d {hours} h" if hours and days < 10 else f"{days:,} d"  # noqa: PLR2004 - past ten days nobody counts hours


def count(number: int, noun: str) -> str:
    """A counted noun."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def ordinal(number: int) -> str:
    """A place in a row: 9th, 21st."""
    teen = number % 100 in (11, 12, 13)
    ending = "th" if teen else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number:,}{ending}"


def per_cent(share: float) -> str:
    """A share in whole per cent; a trace is not rounded away."""
    if not math.isfinite(share):
        return "?%"
    if 0 < share < 0.01:  # noqa: PLR2004 - one per cent
        return "<1%"
    return f"{share * 100:,.0f}%"


def plain(value: float) -> str:
    """Three telling digits, thousands apart."""
    if not math.isfinite(value):
        return "no number"
    if value == 0:
        return "0"
    if abs(value) >= MOST or abs(value) < 1e-4:  # noqa: PLR2004 - past these, powers of ten read better
        return f"{value:.2e}"
    places = max(0, 2 - math.floor(math.log10(abs(value))))
    fixed = f"{value:,.{places}f}"
    return fixed.rstrip("0").rstrip(".") if "." in fixed else fixed


def quantity(value: float, unit: str) -> str:
    """A value with its unit: 2.4 s, 180 ms, 34%, 1.5 GiB, 121/s."""
    match unit:
        case "ratio":
            return per_cent(value)
        case "s" | "seconds":
            return _seconds(value)
        case "bytes" | "B":
            return _bytes(value)
        case _:
            near = not unit or unit[0] in "/%"
            return f"{plain(value)}{'' if near else ' '}{unit}"


def _seconds(value: float) -> str:
    if not math.isfinite(value) or abs(value) >= 2 * MINUTE_S:
        return duration(value) if math.isfinite(value) else plain(value)
    return f"{plain(value)} s" if abs(value) >= 1 or value == 0 else f"{plain(value * 1000)} ms"


def _bytes(value: float) -> str:
    if not math.isfinite(value):
        return plain(value)
    power = 0
    while abs(value) >= 1024 and power < len(BYTES) - 1:  # noqa: PLR2004 - binary units
        value, power = value / 1024, power + 1
    return f"{plain(value)} {BYTES[power]}"
