"""PromQL as tokens with their positions; every character of the text is in exactly one of them."""

import re
from collections.abc import Iterator, Sequence
from enum import Enum, auto
from typing import NamedTuple


class Kind(Enum):
    """What a token is by its spelling alone."""

    WORD = auto()
    NUMBER = auto()
    DURATION = auto()
    STRING = auto()
    OP = auto()
    SPACE = auto()
    COMMENT = auto()
    BAD = auto()


class Token(NamedTuple):
    """A piece of the text; `text == expr[start:end]`."""

    kind: Kind
    text: str
    start: int

    @property
    def end(self) -> int:
        """Position behind the last character."""
        return self.start + len(self.text)


# Every alternative is linear: no repetition can be split in two ways, and an unterminated string
# takes the rest of its line, so that no character is looked at a third time.
_COMMON = r"""
    (?P<SPACE>[ \t\r\n]++)
  | (?P<COMMENT>\#[^\n]*+)
  | (?P<STRING>"(?:[^"\\\n]|\\[^\n])*+"|'(?:[^'\\\n]|\\[^\n])*+'|`[^`]*+`)
  | (?P<OPEN>["'](?:[^\\\n]|\\[^\n])*+|`[^`]*+)
  | (?P<DURATION>(?:[0-9]++(?:ms|[smhdwy]))++(?![A-Za-z0-9_.]))
  | (?P<NUMBER>(?:0[xX][0-9a-fA-F_]++
      |(?:[0-9][0-9_]*+\.?[0-9_]*+|\.[0-9][0-9_]*+)(?:[eE][+-]?[0-9][0-9_]*+)?+)(?![A-Za-z0-9_.]))
  | (?P<MALFORMED>[0-9][A-Za-z0-9_.]*+)
"""
_OPERATORS = r"(?P<OP>==|!=|>=|<=|=~|!~|</|>/|[-+*/%^=<>@(){}\[\],:])"
_WORD = "[A-Za-z_{0}][A-Za-z0-9_{0}]*+"
# A colon belongs to a metric name, but between brackets it parts the range from the step.
_OUTSIDE = re.compile(
    rf"{_COMMON}|(?P<WORD>{_WORD.format(':')})|{_OPERATORS}|(?P<REST>.)", re.VERBOSE | re.DOTALL
)
_BRACKETED = re.compile(
    rf"{_COMMON}|(?P<WORD>{_WORD.format('')})|{_OPERATORS}|(?P<REST>.)", re.VERBOSE | re.DOTALL
)
_KINDS = {
    **{kind.name: kind for kind in Kind},
    **dict.fromkeys(("OPEN", "MALFORMED", "REST"), Kind.BAD),
}


def tokens(expr: str) -> tuple[Token, ...]:
    """Cut `expr` into tokens, spaces and comments included; never fails, linear in its length."""
    return tuple(_cut(expr, skipped=frozenset()))


def significant(expr: str) -> tuple[Token, ...]:
    """Cut `expr` into tokens and leave spaces and comments out."""
    return tuple(_cut(expr, skipped=frozenset({Kind.SPACE, Kind.COMMENT})))


def _cut(expr: str, *, skipped: frozenset[Kind]) -> Iterator[Token]:
    at, brackets, end = 0, 0, len(expr)
    while at < end:
        match = (_BRACKETED if brackets else _OUTSIDE).match(expr, at)
        assert match is not None, "the last alternative takes any character"
        kind, text = _KINDS[match.lastgroup or ""], match[0]
        if text == "[":
            brackets += 1
        elif text == "]" and brackets:
            brackets -= 1
        if kind not in skipped:
            yield Token(kind, text, at)
        at = match.end()


def joined(found: Sequence[Token]) -> str:
    """Put the text together again."""
    return "".join(token.text for token in found)
