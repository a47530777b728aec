"""The limits that keep the parser, and with it the process, alive. Linear; run before parsing."""

import re
from collections.abc import Iterable
from itertools import pairwise

from engine.promql.expression import Expression
from engine.promql.strings import unquote
from engine.promql.tokens import Kind, Token

MAX_CHARACTERS = 4_000
MAX_NESTING = 50
MAX_OPERATORS = 100
MAX_WIDE = 200
"""Word and script classes in regular expressions, repetitions written out: 2 ms of parsing each."""

_OPENERS = frozenset("([{")
_CLOSERS = frozenset(")]}")
# `[` is an operator too: subqueries chain without nesting, and each one is a level of the tree.
_SYMBOLS = frozenset(["==", "!=", ">=", "<=", ">", "<", "</", ">/", *"+-*/%^@["])
_WORDS = frozenset({"and", "or", "unless", "atan2", "offset"})
_MATCHING = frozenset({"=", "==", "!=", "=~", "!~", ","})
_PIECE = re.compile(
    r"(?P<wide>\\[wWpP])|(?P<open>\()|(?P<close>\))|\{(?:\d*,)?(?P<times>\d{1,6}),?\}|\\.|.",
    re.DOTALL,
)


def over(expression: Expression) -> str | None:
    """Say which limit keeps an expression from being parsed at all."""
    return (
        too_long(expression.text) or too_complex(expression.tokens) or too_wide(expression.tokens)
    )


def too_long(expr: str) -> str | None:
    """Say why `expr` is not even cut into tokens."""
    return f"over {MAX_CHARACTERS} characters" if len(expr) > MAX_CHARACTERS else None


def too_complex(found: Iterable[Token]) -> str | None:
    """Say which limit the tokens break; signs count, so that chains of them are bounded as well."""
    open_now: list[str] = []
    deepest = operators = 0
    for kind, text, _ in found:
        if kind is Kind.OP:
            if text in _OPENERS:
                open_now.append(text)
                deepest = max(deepest, len(open_now))
            elif text in _CLOSERS and open_now:
                open_now.pop()
            selecting = bool(open_now) and open_now[-1] == "{" and text in _MATCHING
            operators += text in _SYMBOLS and not selecting
        elif kind is Kind.WORD:
            operators += text.lower() in _WORDS
    if deepest > MAX_NESTING:
        return f"nested deeper than {MAX_NESTING}"
    return f"over {MAX_OPERATORS} operators" if operators > MAX_OPERATORS else None


def too_wide(found: Iterable[Token]) -> str | None:
    """Say whether compiling the regular expressions would take too long."""
    wide = sum(
        _wide(unquote(value.text))
        for op, value in pairwise(found)
        if op.text in {"=~", "!~"} and value.kind is Kind.STRING
    )
    return "regular expressions too wide" if wide > MAX_WIDE else None


def _wide(regex: str) -> int:
    """Count the wide classes with every bounded repetition written out; groups nest."""
    sums, last = [0], 0
    for piece in _PIECE.finditer(regex):
        if piece["open"]:
            sums.append(0)
            last = 0
        elif piece["close"] and len(sums) > 1:
            last = sums.pop()
            sums[-1] += last
        elif piece["times"]:
            again = last * max(0, int(piece["times"]) - 1)
            sums[-1] += again
            last += again
        else:
            last = 1 if piece["wide"] else 0
            sums[-1] += last
    return sum(sums)
