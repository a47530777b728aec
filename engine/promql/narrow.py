"""Matchers put into an expression's selectors, proven on the tree to have changed nothing else."""

from collections import Counter
from collections.abc import Iterator, Mapping

from engine.model.base import Frozen
from engine.promql.caps import over
from engine.promql.expression import Expression
from engine.promql.parser import Unparsable
from engine.promql.scan import Role
from engine.promql.selectors import NAME_LABEL, Selector, matched, selected
from engine.promql.server import DEFAULT, ServerInfo
from engine.promql.tree import Leaf, Matching, Tree, tree

_EQUAL = "MatchOp.Equal"


class Inserted(Frozen):
    """The text with the matchers in it."""

    expr: str
    selectors: int
    """How many selectors were given matchers."""


class NotInserted(Frozen):
    """The matchers cannot be put in safely; the expression is `invalid(scope)` and never sent."""

    detail: str


def insert_matchers(
    expr: str,
    matchers: Mapping[str, str],
    *,
    only_where_missing: bool,
    server: ServerInfo | None = None,
) -> Inserted | NotInserted:
    """Put equality matchers into every selector, at the selectors' own places in the text.

    A selector that holds the label to another value gets the matcher too: it then selects nothing,
    which leaks nothing.

    Args:
        expr: the text; everything else in it stays as it is, character by character.
        matchers: label to value, each set in full.
        only_where_missing: leave selectors alone that hold any label (not the name) to a value.
        server: as for `check`.
    """
    if not matchers:
        return Inserted(expr=expr, selectors=0)
    before = Expression(expr)
    unfit = over(before) or _unselected(before)
    if unfit:
        return NotInserted(detail=unfit)
    chosen = [s for s in selected(before) if not (only_where_missing and _pinned(s))]
    after = Expression(_written(before, chosen, matched(matchers)))
    wanted = Counter((label, _EQUAL, value) for label, value in matchers.items())
    known = server or DEFAULT
    unfit = over(after) or _unproven(
        tree(before, known), tree(after, known), wanted, only_where_missing=only_where_missing
    )
    return NotInserted(detail=unfit) if unfit else Inserted(expr=after.text, selectors=len(chosen))


def _unselected(expression: Expression) -> str | None:
    """Say what reads series that no selector names, and that no matcher would narrow."""
    informing = any(t.text.lower() == "info" for t in expression.having(Role.FUNCTION))
    return "info() reads series that no selector names" if informing else None


def _pinned(selector: Selector) -> bool:
    return any(m.pins and m.label != NAME_LABEL for m in selector.matchers)


def _written(expression: Expression, chosen: list[Selector], inner: str) -> str:
    """Write the matchers before each closing brace, or in braces of their own."""
    text, at, pieces = expression.text, 0, []
    ends = {token.end: n for n, token in enumerate(expression.tokens)}
    for selector in chosen:
        place = selector.end - 1 if selector.braced else selector.end
        bare = inner if selector.braced else f"{{{inner}}}"
        last = expression.tokens[ends[selector.end] - 1].text
        comma = "," if selector.braced and last not in {"{", ","} else ""
        pieces += [text[at:place], comma, bare]
        at = place
    return "".join([*pieces, text[at:]])


def _unproven(
    old: Tree | Unparsable,
    new: Tree | Unparsable,
    wanted: Counter[Matching],
    *,
    only_where_missing: bool,
) -> str | None:
    """Say why the trees may differ in more than `wanted` in each selector that was to have it."""
    if isinstance(old, Unparsable) or isinstance(new, Unparsable):
        return "not readable with the matchers in it"
    same = old.shape == new.shape and len(old.leaves) == len(new.leaves)
    for one, other in zip(old.leaves, new.leaves, strict=False):
        pinned = only_where_missing and any(_pins(one))
        expected = Counter(one.matchers) + (Counter() if pinned else wanted)
        same = same and one.name == other.name and not (one.alternatives or other.alternatives)
        same = same and Counter(other.matchers) == expected
    return None if same else "the matchers would change more than the selectors"


def _pins(leaf: Leaf) -> Iterator[bool]:
    return (
        op == _EQUAL and value != "" and label != NAME_LABEL for label, op, value in leaf.matchers
    )
