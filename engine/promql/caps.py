"""The limits that keep the parser, and with it the process, alive. Linear; run before parsing."""

from collections.abc import Iterable

from engine.promql.tokens import Kind, Token

MAX_CHARACTERS = 4_000
MAX_NESTING = 50
MAX_OPERATORS = 100

_OPENERS = frozenset("([{")
_CLOSERS = frozenset(")]}")
# `[` is an operator too: subqueries chain without nesting, and each one is a level of the tree.
_SYMBOLS = frozenset(["==", "!=", ">=", "<=", ">", "<", "</", ">/", *"+-*/%^@["])
_WORDS = frozenset({"and", "or", "unless", "atan2", "offset"})
_MATCHING = frozenset({"=", "==", "!=", "=~", "!~", ","})


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
