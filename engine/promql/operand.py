"""Where an operand begins: the text that a bracket, an offset or a clause behind it is about."""

from engine.promql.expression import Expression
from engine.promql.scan import Role

_BEHIND = frozenset(
    {Role.WINDOW, Role.SHIFT, Role.OFFSET, Role.INSTANT, Role.AT, Role.EXTENDED, Role.LABEL}
)
_CALLERS = frozenset({Role.FUNCTION, Role.AGGREGATION})


def operand_start(expression: Expression, end: int) -> int | None:
    """Give the index of the first token of the operand that ends before token `end`."""
    at = end - 1
    while at > 0 and (expression.roles[at] in _BEHIND or _clause(expression, at)):
        at -= 1
    if at < 0:
        return None
    match expression.roles[at]:
        case Role.SELECTOR:
            return _braces(expression, at)
        case Role.CLOSE:
            return _call(expression, at)
        case Role.METRIC | Role.VALUE:
            return at
        case _:
            return None


def _clause(expression: Expression, at: int) -> bool:
    return expression.roles[at] is Role.CLAUSE


def _braces(expression: Expression, at: int) -> int:
    while at > 0 and expression.tokens[at].text != "{":
        at -= 1
    named = at > 0 and expression.roles[at - 1] is Role.METRIC
    return at - 1 if named else at


def _call(expression: Expression, at: int) -> int | None:
    """Go back over balanced parentheses to the name before them, if there is one."""
    depth = 0
    for place in range(at, -1, -1):
        role = expression.roles[place]
        depth += (role is Role.CLOSE) - (role is Role.OPEN)
        if depth == 0 and role is Role.OPEN:
            return _caller(expression, place)
    return None


def _caller(expression: Expression, opened: int) -> int:
    """Go from an opening parenthesis to the name it belongs to, over a clause before it."""
    at = opened - 1
    while at > 0 and expression.roles[at] in {Role.LABEL, Role.CLAUSE}:
        at -= 1
    return at if at >= 0 and expression.roles[at] in _CALLERS else opened
