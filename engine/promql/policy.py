"""What a model may ask a server for. Read off the tokens, so that it holds for broken text too."""

import re
from collections.abc import Iterator
from typing import Final

from pydantic import Field

from engine.model.base import Frozen
from engine.promql.amounts import seconds
from engine.promql.expression import Expression
from engine.promql.operand import operand_start
from engine.promql.scan import Role
from engine.promql.selectors import NAME_LABEL, Selector, selected
from engine.promql.tokens import Kind, Token

DAY_S: Final = 86_400
_LITERAL = re.compile(r"\w")


class Policy(Frozen):
    """How far and how wide a query may reach."""

    max_range_s: float = Field(DAY_S, gt=0)
    """Samples read behind one point; the ranges of nested subqueries add up."""
    max_offset_s: float = Field(8 * DAY_S, ge=0)
    """How far the window may be moved, so that a day can be held against the same day a week ago."""


FOR_MODELS: Final = Policy()


def refusal(expression: Expression, policy: Policy) -> str | None:
    """Say what the policy forbids about it."""
    for selector in selected(expression):
        if any(m.label == NAME_LABEL and m.op in {"=~", "!~"} for m in selector.matchers):
            return "a regular expression on the metric name"
        if _everything(selector):
            return "a selector that leaves nothing out"
    return next(_too_far(expression, policy), None)


def _everything(selector: Selector) -> bool:
    """Whether no matcher demands a value: neither a name, an equality nor a regex with letters."""
    return selector.metric is None and not any(
        m.pins or (m.op == "=~" and _LITERAL.search(m.value)) for m in selector.matchers
    )


def _too_far(expression: Expression, policy: Policy) -> Iterator[str]:
    windows, shifts = [], []
    for start, end in expression.regions(Role.WINDOW):
        span = [*_until_colon(expression.tokens[start + 1 : end])]
        if sum(token.kind in {Kind.NUMBER, Kind.DURATION} for token in span) != len(span):
            yield "a range that is computed"
        windows.append((start, sum(map(seconds, span))))
    for start, end in expression.regions(Role.SHIFT):
        shifts.append((start - 1, sum(_lengths(expression.tokens[start:end]))))
    if _farthest(expression, windows) > policy.max_range_s:
        yield f"a range over {policy.max_range_s:.0f} s"
    if _farthest(expression, shifts) > policy.max_offset_s:
        yield f"an offset over {policy.max_offset_s:.0f} s"


def _until_colon(part: tuple[Token, ...]) -> Iterator[Token]:
    for token in part:
        if token.text in {":", "]"}:
            return
        yield token


def _lengths(part: tuple[Token, ...]) -> Iterator[float]:
    return (seconds(token) for token in part if token.kind in {Kind.NUMBER, Kind.DURATION})


def _farthest(expression: Expression, reaches: list[tuple[int, float]]) -> float:
    """Add up what lies inside the operand of what stands behind it; give the longest sum."""
    sums: list[tuple[int, float]] = []
    for place, reach_s in reaches:
        start = operand_start(expression, place)
        first = place if start is None else start
        sums.append((place, reach_s + max((s for at, s in sums if at >= first), default=0.0)))
    return max((reach_s for _, reach_s in sums), default=0.0)
