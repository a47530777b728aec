"""What a model may ask a server for. Read off the tokens, so that it holds for broken text too."""

import math
import re
from collections.abc import Iterator, Sequence
from itertools import takewhile
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
_AMOUNTS = frozenset({Kind.NUMBER, Kind.DURATION})


class Policy(Frozen):
    """How far and how wide a query may reach."""

    max_range_s: float = Field(DAY_S, gt=0)
    """Samples read behind one point; the ranges of nested subqueries add up."""
    max_offset_s: float = Field(8 * DAY_S, ge=0)
    """How far a window may be moved: enough to hold a day against the same day a week ago."""


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
    windows = [
        (start, [*takewhile(_within_range, expression.tokens[start + 1 : end])])
        for start, end in expression.regions(Role.WINDOW)
    ]
    shifts = [
        (start - 1, [t for t in expression.tokens[start:end] if t.text not in {"+", "-"}])
        for start, end in expression.regions(Role.SHIFT)
    ]
    if not all(token.kind in _AMOUNTS for _, part in (*windows, *shifts) for token in part):
        yield "a range or an offset that is computed"
    if _farthest(expression, windows) > policy.max_range_s:
        yield f"a range over {policy.max_range_s:.0f} s"
    if _farthest(expression, shifts) > policy.max_offset_s:
        yield f"an offset over {policy.max_offset_s:.0f} s"


def _within_range(token: Token) -> bool:
    return token.text not in {":", "]"}


def _farthest(expression: Expression, reaches: Sequence[tuple[int, Sequence[Token]]]) -> float:
    """Add up what lies inside the operand of what stands behind it; give the longest sum."""
    sums: list[tuple[int, float]] = []
    for place, part in reaches:
        start = operand_start(expression, place)
        first = place if start is None else start
        inner = max((reach_s for at, reach_s in sums if at >= first), default=0.0)
        sums.append((place, math.fsum(map(seconds, part)) + inner))
    return max((reach_s for _, reach_s in sums), default=0.0)
