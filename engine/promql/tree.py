"""The parser's syntax tree as plain values that can be compared, selectors apart from the rest."""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import promql_parser as p

from engine.promql.expression import Expression
from engine.promql.parser import Unparsable, parse
from engine.promql.respell import panics, respelled
from engine.promql.server import DEFAULT, ServerInfo

Matching = tuple[str, str, str]
"""Label, operator, value."""


@dataclass(frozen=True)
class Leaf:
    """A selector of the tree."""

    name: str | None
    matchers: tuple[Matching, ...]
    alternatives: bool
    """Whether it holds `or`, which no server of ours takes."""


@dataclass(frozen=True)
class Tree:
    """An expression's shape and its selectors in the text's order."""

    shape: Sequence[Hashable]
    leaves: tuple[Leaf, ...]


def tree(expression: Expression, server: ServerInfo = DEFAULT) -> Tree | Unparsable:
    """Read a text, or its respelling where the parser is known to refuse what a server takes."""
    node = Unparsable(detail="out of range") if panics(expression) else parse(expression.text)
    if isinstance(node, Unparsable):
        known = respelled(expression, server)
        if not known.oddities or panics(Expression(known.text)):
            return node
        node = parse(known.text)
    if isinstance(node, Unparsable):
        return node
    walked = [*_walk(node)]
    shape = [part for part in walked if not isinstance(part, Leaf)]
    return Tree(shape, tuple(part for part in walked if isinstance(part, Leaf)))


def _walk(node: Any) -> Iterator[Hashable]:
    """Give the tree from the root down; a leaf stands where its selector does."""
    yield type(node).__name__
    match node:
        case p.VectorSelector():
            yield from _selector(node)
        case p.MatrixSelector():
            yield node.range
            yield from _selector(node.vector_selector)
        case p.SubqueryExpr():
            yield (node.range, node.step, node.offset, str(node.at))
            yield from _walk(node.expr)
        case p.BinaryExpr():
            yield (str(node.op), _modifier(node.modifier))
            yield from _walk(node.lhs)
            yield from _walk(node.rhs)
        case p.AggregateExpr():
            yield (str(node.op), _labels(node.modifier), node.param is None)
            yield from () if node.param is None else _walk(node.param)
            yield from _walk(node.expr)
        case p.Call():
            yield (node.func.name, len(node.args))
            for argument in node.args:
                yield from _walk(argument)
        case p.ParenExpr() | p.UnaryExpr():
            yield from _walk(node.expr)
        case _:
            yield repr(node)


def _selector(node: Any) -> Iterator[Hashable]:
    yield (node.offset, str(node.at))
    found = tuple((m.name, str(m.op), m.value) for m in node.matchers.matchers)
    yield Leaf(node.name, found, alternatives=bool(node.matchers.or_matchers))
    yield "selector"


def _labels(modifier: Any) -> Hashable:
    return modifier and (str(modifier.type), tuple(modifier.labels))


def _modifier(modifier: Any) -> Hashable:
    if modifier is None:
        return None
    fills = modifier.fill_values
    grouped = tuple(modifier.group_labels or ())
    matching = _labels(modifier.matching)
    return (str(modifier.card), matching, grouped, modifier.return_bool, fills.lhs, fills.rhs)
