"""An alert's expression without its threshold, and the threshold: to draw the series behind it."""

import math
import operator
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import promql_parser as p

from engine.model.base import Frozen
from engine.promql.check import Verdict, check
from engine.promql.expression import Expression
from engine.promql.parser import Unparsable, parse
from engine.promql.scan import COMPARISONS, SET_OPERATORS, Role

_FLIPPED: Final = {">": "<", "<": ">", ">=": "<=", "<=": ">="}
_CONSTANT = frozenset({Role.VALUE, Role.SIGN, Role.BINARY, Role.OPEN, Role.CLOSE})
_MODIFIERS = frozenset({Role.BOOL, Role.MATCHING, Role.LABEL, Role.FILL})
_ARITHMETIC: Mapping[str, Callable[[float, float], float]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "%": math.fmod,
    "^": math.pow,
}
Range = tuple[int, int]


class Threshold(Frozen):
    """`series op value` is when the alert fires."""

    op: str
    value: float


class _Cut(Frozen):
    """A comparison with a constant: what is cut, and what it says of the rest."""

    start: int
    end: int
    op: str
    constant: str


def comparison_stripped(expr: str) -> str | None:
    """Give `expr` without its comparisons with a constant; None when it has none at the top.

    Stripped are the operands of `and`, `or` and the left side of `unless`: they only show more
    series for it. What stands right of `unless` keeps its threshold, or it would hide series.
    The rest stays as it was written.
    """
    expression = Expression(expr)
    if check(expr).verdict is Verdict.INVALID:
        return None
    pieces, at = [], 0
    for cut in _cuts(expression, (0, len(expression.tokens))):
        start, end = expression.tokens[cut.start].start, expression.tokens[cut.end - 1].end
        pieces.append(expr[at:start].rstrip(" \t"))
        at = end
    stripped = "".join([*pieces, expr[at:]]).strip()
    changed = bool(pieces) and check(stripped).verdict is not Verdict.INVALID
    return stripped if changed else None


def threshold(expr: str) -> Threshold | None:
    """Give the first threshold of `expr`, turned so that the series stand on the left."""
    if check(expr).verdict is Verdict.INVALID:
        return None
    expression = Expression(expr)
    for cut in _cuts(expression, (0, len(expression.tokens))):
        value = _value(parse(cut.constant))
        if value is not None:
            return Threshold(op=cut.op, value=value)
    return None


def _cuts(expression: Expression, within: Range) -> Iterator[_Cut]:
    """Give the comparisons to cut, in the text's order."""
    for before, part in _split(expression, within, SET_OPERATORS):
        if before == "unless":
            continue
        parts = [*_split(expression, part, COMPARISONS)]
        if len(parts) > 1:
            yield from _compared(expression, parts)
        elif _wrapped(expression, part):
            yield from _cuts(expression, (part[0] + 1, part[1] - 1))


def _split(
    expression: Expression, within: Range, operators: frozenset[str]
) -> Iterator[tuple[str, Range]]:
    """Part a range at operators outside brackets; give each part with the operator before it."""
    depth, before, start = 0, "", within[0]
    for at in range(*within):
        role, text = expression.roles[at], expression.tokens[at].text.lower()
        depth += (role is Role.OPEN) - (role is Role.CLOSE)
        if depth == 0 and role is Role.BINARY and text in operators:
            yield before, (start, at)
            before, start = text, at + 1
        elif start == at and role in _MODIFIERS:
            start += 1
    yield before, (start, within[1])


def _wrapped(expression: Expression, part: Range) -> bool:
    """Whether one pair of brackets holds all of it."""
    depth = 0
    for at in range(*part):
        role = expression.roles[at]
        depth += (role is Role.OPEN) - (role is Role.CLOSE)
        if depth == 0:
            return role is Role.CLOSE and at == part[1] - 1
    return False


def _compared(expression: Expression, parts: list[tuple[str, Range]]) -> Iterator[_Cut]:
    """Cut constants off a chain of comparisons; a leading one only when one series side is left."""
    constants = [_is_constant(expression, part) for _, part in parts]
    if all(constants):
        return
    if constants[0] and constants.count(False) == 1:
        op, part = parts[1]
        text = _text(expression, parts[0][1])
        yield _Cut(start=parts[0][1][0], end=part[0], op=_FLIPPED.get(op, op), constant=text)
    for (_, left), (op, part), constant in zip(parts, parts[1:], constants[1:], strict=False):
        if constant:
            yield _Cut(start=left[1], end=part[1], op=op, constant=_text(expression, part))


def _is_constant(expression: Expression, part: Range) -> bool:
    tokens = expression.tokens[part[0] : part[1]]
    plain = all(role in _CONSTANT for role in expression.roles[part[0] : part[1]])
    return plain and not any(token.text[0] in "\"'`" for token in tokens)


def _text(expression: Expression, part: Range) -> str:
    return expression.text[expression.tokens[part[0]].start : expression.tokens[part[1] - 1].end]


def _value(node: Any | Unparsable) -> float | None:
    """Work a constant out; what cannot be worked out has no value."""
    match node:
        case p.NumberLiteral():
            return float(node.val)
        case p.ParenExpr():
            return _value(node.expr)
        case p.UnaryExpr():
            inner = _value(node.expr)
            return None if inner is None else -inner
        case p.BinaryExpr():
            return _worked_out(str(node.op), _value(node.lhs), _value(node.rhs))
        case _:
            return None


def _worked_out(op: str, left: float | None, right: float | None) -> float | None:
    if left is None or right is None or op not in _ARITHMETIC:
        return None
    try:
        return _ARITHMETIC[op](left, right)
    except (ArithmeticError, ValueError):
        return None
