"""The range that rates are taken over."""

import re
from typing import Final

USUAL: Final = "5m"
_RANGE = re.compile(r"\[(\d{1,4})(s|m|h)\]")
_UNIT_S = {"s": 1, "m": 60, "h": 3600}
_SHORTEST_S, _LONGEST_S = 30, 900


def rate_span(expression: str | None) -> str:
    """Take the alert's own shortest range, which suits how often its metrics are scraped."""
    ranges = [int(n) * _UNIT_S[unit] for n, unit in _RANGE.findall(expression or "")]
    if not ranges:
        return USUAL
    return f"{min(max(min(ranges), _SHORTEST_S), _LONGEST_S)}s"
