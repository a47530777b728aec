"""What an expression speaks of: enough to tell a symptom from a gap or a prediction."""

from collections.abc import Iterable

from engine.model.base import Frozen
from engine.promql.expression import Expression
from engine.promql.scan import Role
from engine.promql.selectors import selected


class References(Frozen):
    """Names in the order of their first mention, each once."""

    metrics: tuple[str, ...]
    functions: tuple[str, ...]
    aggregations: tuple[str, ...]
    labels: tuple[str, ...]
    """Labels that selectors put a condition on."""


def references(expr: str) -> References:
    """Read the names off `expr`; broken text gives what can be read."""
    expression = Expression(expr)
    chosen = selected(expression)
    return References(
        metrics=_once(s.metric for s in chosen if s.metric is not None),
        functions=_once(t.text for t in expression.having(Role.FUNCTION)),
        aggregations=_once(t.text.lower() for t in expression.having(Role.AGGREGATION)),
        labels=_once(m.label for s in chosen for m in s.matchers),
    )


def _once(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))
