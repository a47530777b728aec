"""Numbers and durations as the server reads them."""

import math
import re

from engine.promql.tokens import Kind, Token

_PART = re.compile(r"(\d+)(ms|[smhdwy])")
_UNIT_S = {"ms": 0.001, "s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800, "y": 31_536_000}
LONGEST_S = 2**63 / 1e9
"""The server keeps a duration as nanoseconds in 64 bits: 292 years."""
LATEST_S = 2**63 / 1e3
"""It keeps a point in time as milliseconds."""


def seconds(token: Token) -> float:
    """Read a number or a duration as seconds; whatever is neither is not a number."""
    if token.kind is Kind.DURATION:
        return math.fsum(int(n) * _UNIT_S[unit] for n, unit in _PART.findall(token.text))
    return number(token.text)


def number(text: str) -> float:
    """Read a numeric literal: decimal, hexadecimal, `inf` or `nan`."""
    digits = text.replace("_", "").lower()
    try:
        return float(int(digits, 16)) if digits.startswith("0x") else float(digits)
    except OverflowError:
        return math.inf
    except ValueError:
        return math.nan
