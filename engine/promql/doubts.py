"""Syntax the parser wrongly takes: what makes a text that parses no more than unsure."""

import math
import re
from collections.abc import Iterator
from itertools import pairwise

from engine.promql.amounts import LATEST_S, LONGEST_S, number, seconds
from engine.promql.expression import Expression
from engine.promql.parser import parses
from engine.promql.scan import Role
from engine.promql.server import ServerInfo, may_lack
from engine.promql.strings import unquote
from engine.promql.tokens import Kind, Token

_MATCH_OPERATORS = frozenset({"=", "!=", "=~", "!~"})
# What Go's engine refuses and the library's does not: stacked or huge repetition, flags other than
# i, m, s and U, escaped letters without a meaning, unknown named classes.
_GO_REFUSES = re.compile(
    r"(?<!\\)(?:\\\\)*(?:[*+?}][*+{]|\{\d*\d{4}|\(\?[a-zA-Z-]*[^a-zA-Z:imsUP<-]"
    r"|\(\?[imsU-]*(?![imsU-])[a-zA-OQ-Z]|\\[uUceghijkmoqyZGHJKLMNRTVXY]|\[\[:)"
)


def doubt(expression: Expression, server: ServerInfo) -> str | None:
    """Name the first reason why the server may refuse what the parser took."""
    return next(_doubts(expression, server), None)


def _doubts(expression: Expression, server: ServerInfo) -> Iterator[str]:
    for token in expression.having(Role.FUNCTION, Role.AGGREGATION):
        if may_lack(token.text.lower(), server):
            yield f"{token.text}() may not be there"
    for _ in expression.having(Role.FILL):
        yield "fill modifiers may not be there"
    for token in expression.tokens:
        if token.kind is Kind.NUMBER and math.isinf(number(token.text)):
            yield "a number out of range"
        if token.kind is Kind.DURATION and seconds(token) >= LONGEST_S:
            yield "a duration out of range"
        if "\ufffd" in token.text:
            yield "a replacement character, which the server takes for broken UTF-8"
    yield from _amounts(expression)
    yield from _selectors(expression)
    yield from _signs(expression)
    if server.before_three:
        yield from _new_in_three(expression)


def _amounts(expression: Expression) -> Iterator[str]:
    """Look at ranges, offsets and points in time."""
    for token in expression.having(Role.WINDOW, Role.SHIFT):
        if token.kind is Kind.NUMBER and seconds(token) >= LONGEST_S:
            yield "a range or an offset out of range"
    for token in expression.having(Role.INSTANT):
        if token.kind is Kind.NUMBER and seconds(token) >= LATEST_S:
            yield "a time out of range"
    for token in expression.having(Role.WINDOW):
        if token.kind is Kind.NUMBER and seconds(token) == 0:
            yield "an empty range"


def _selectors(expression: Expression) -> Iterator[str]:
    """Look between braces: `or`, and regular expressions the engines read differently."""
    inside = [*expression.having(Role.SELECTOR)]
    for token, following in pairwise(inside):
        if token.text.lower() == "or" and following.text not in _MATCH_OPERATORS:
            yield "`or` between matchers"
        regex = token.text in {"=~", "!~"} and following.kind is Kind.STRING
        if regex and _GO_REFUSES.search(unquote(following.text)):
            yield "a regular expression the server may refuse"


def _signs(expression: Expression) -> Iterator[str]:
    """Ask the parser again with other signs: the answer must not depend on them.

    It forgets a unary plus before it checks types, and folds a minus into the number behind it.
    """
    signs = [*expression.having(Role.SIGN)]
    for wanted, instead in (("+", "-"), ("-", " ")):
        chosen = {t.start for t in signs if t.text == wanted and _counts(expression, t)}
        if chosen:
            text = "".join(instead if n in chosen else c for n, c in enumerate(expression.text))
            if not parses(text):
                yield "a sign before what may take none"


def _counts(expression: Expression, sign: Token) -> bool:
    """Whether a sign is worth asking about: any plus, and a minus right before a number."""
    at = expression.tokens.index(sign) + 1
    numeric = expression.tokens[at].kind in {Kind.NUMBER, Kind.DURATION}
    return sign.text == "+" or numeric


def _new_in_three(expression: Expression) -> Iterator[str]:
    """Look for what came with version 3: numbers as durations, durations as numbers, any name."""
    before = ""
    for token, role in zip(expression.tokens, expression.roles, strict=True):
        number_as_time = token.kind is Kind.NUMBER and role in {Role.WINDOW, Role.SHIFT}
        time_as_number = token.kind is Kind.DURATION and role in {Role.VALUE, Role.INSTANT}
        if number_as_time or time_as_number:
            yield "durations and numbers mixed"
        valued = role is Role.SELECTOR and before in _MATCH_OPERATORS
        if token.kind is Kind.STRING and role in {Role.SELECTOR, Role.LABEL} and not valued:
            yield "a quoted name"
        before = token.text
