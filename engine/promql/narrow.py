"""Matchers put into an expression's selectors, proven on the tree to have changed nothing else."""

from collections import Counter
from collections.abc import Iterator, Mapping

from engine.model.base import Frozen
from engine.promql.caps import too_complex, too_long
from engine.promql.expression import Expression
from engine.promql.parser import Unparsable
from engine.promql.scan import Role
from engine.promql.selectors import NAME_LABEL, Selector, matched, selected
from engine.promql.server import DEFAULT, ServerInfo
from engine.promql.tree import Leaf, Tree, tree

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
    before = _capped(expr)
    if isinstance(before, NotInserted):
        return before
    if any(t.text.lower() == "info" for t in before.having(Role.FUNCTION)):
        return NotInserted(detail="info() reads series that no selector names")
    chosen = [s for s in selected(before) if not (only_where_missing and _pinned(s))]
    after = _capped(_written(before, chosen, matched(matchers)))
    if isinstance(after, NotInserted):
        return after
    wanted = Counter((label, _EQUAL, value) for label, value in matchers.items())
    old, new = tree(before, server or DEFAULT), tree(after, server or DEFAULT)
    if isinstance(old, Unparsable) or isinstance(new, Unparsable):
        return NotInserted(detail="not readable with the matchers in it")
    if not _only_added(old, new, wanted, only_where_missing=only_where_missing):
        return NotInserted(detail="the matchers would change more than the selectors")
    return Inserted(expr=after.text, selectors=len(chosen))


def _capped(expr: str) -> Expression | NotInserted:
    expression = Expression(expr)
    broken = too_long(expr) or too_complex(expression.tokens)
    return NotInserted(detail=broken) if broken else expression


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


def _only_added(
    old: Tree, new: Tree, wanted: Counter[tuple[str, str, str]], *, only_where_missing: bool
) -> bool:
    """Whether the trees differ in nothing but `wanted` in each selector that was to have it."""
    if old.shape != new.shape or len(old.leaves) != len(new.leaves):
        return False
    for one, other in zip(old.leaves, new.leaves, strict=True):
        pinned = only_where_missing and any(_pins(one))
        expected = Counter(one.matchers) + (Counter() if pinned else wanted)
        same = one.name == other.name and not one.alternatives and not other.alternatives
        if not same or Counter(other.matchers) != expected:
            return False
    return True


def _pins(leaf: Leaf) -> Iterator[bool]:
    return (op == _EQUAL and value != "" and label != NAME_LABEL for label, op, value in leaf.matchers)
