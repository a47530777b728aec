"""An alert's own series taken apart by more labels: the same question, one answer for each part."""

from collections.abc import Iterator, Sequence

from engine.promql.check import Verdict, check
from engine.promql.expression import Expression
from engine.promql.repair import clauses_of, owner_of
from engine.promql.scan import Role
from engine.promql.server import ServerInfo
from engine.promql.threshold import comparison_stripped

_KEEPS_LABELS = frozenset({"topk", "bottomk", "limitk", "limit_ratio"})
_KNOWS_NO_PARTS = frozenset({"absent", "absent_over_time", "scalar", "vector"})
Insertion = tuple[int, str]


def split_by(expr: str, labels: Sequence[str], server: ServerInfo | None = None) -> str | None:
    """Write `expr` without its threshold, every aggregation also grouped by `labels`.

    None where that cannot be read safely, or where the parts would not be those of `expr`.
    """
    series = comparison_stripped(expr) or expr
    expression = Expression(series)
    functions = {expression.tokens[at].text.lower() for at in expression.places(Role.FUNCTION)}
    if functions & _KNOWS_NO_PARTS or check(series, server=server).verdict is not Verdict.VALID:
        return None
    added = [*_grouped(expression, labels), *_matched(expression, labels)]
    for place, text in sorted(added, reverse=True):
        series = series[:place] + text + series[place:]
    return series if check(series, server=server).verdict is Verdict.VALID else None


def _grouped(expression: Expression, labels: Sequence[str]) -> Iterator[Insertion]:
    """Add the labels to every `by`, and a `by` to what has no clause; `without` keeps them."""
    owned = {owner_of(expression, start): (start, end) for start, end in clauses_of(expression)}
    for at in expression.places(Role.AGGREGATION):
        word = expression.tokens[at]
        if at in owned:
            start, end = owned[at]
            if expression.tokens[start].text.lower() == "by":
                yield from _listed(expression, start, end, labels)
        elif word.text.lower() not in _KEEPS_LABELS:
            yield word.end, f" by ({', '.join(labels)}) "


def _matched(expression: Expression, labels: Sequence[str]) -> Iterator[Insertion]:
    """Add them to every `on`, so that each part meets its own."""
    for at in expression.places(Role.MATCHING):
        if expression.tokens[at].text.lower() != "on":
            continue
        end = at + 1
        while end < len(expression.roles) and expression.roles[end] is Role.LABEL:
            end += 1
        yield from _listed(expression, at, end, labels)


def _listed(
    expression: Expression, start: int, end: int, labels: Sequence[str]
) -> Iterator[Insertion]:
    inner = [t.text for t in expression.tokens[start + 1 : end] if t.text not in {"(", ")", ","}]
    new = [label for label in labels if label not in inner]
    closing = expression.tokens[end - 1]
    if new and closing.text == ")":
        yield closing.start, (", " if inner else "") + ", ".join(new)
