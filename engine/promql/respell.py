"""Syntax the parser wrongly refuses, respelled into what it knows.

If the respelled text parses, the original may be valid and only the server can tell; if it does
not, something else is broken. A respelling is for judging only and is never sent.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from engine.promql.amounts import LONGEST_S, seconds
from engine.promql.expression import Expression
from engine.promql.parser import parses
from engine.promql.scan import Role
from engine.promql.server import GONE_IN_THREE, ServerInfo
from engine.promql.strings import quote, unquote
from engine.promql.tokens import Kind, Token

_TRIMS = frozenset({"</", ">/"})
_EXTENDED = frozenset({"anchored", "smoothed"})
_AMOUNT_WORDS = frozenset({"step", "range", "min_of", "max_of", "inf", "nan"})
_DIGITS = re.compile(r"(?<=[0-9a-fA-FxX])_(?=[0-9a-fA-F])")
# RE2 knows quoted runs, single bytes and a class such as [\w-x]; the library's engine does not.
_RE2_ONLY = re.compile(r"\\[QC]|\[[^\]]*\\[dswDSW]-|\[[^\]]*-\\[dswDSW]")


class Respelling(NamedTuple):
    """A text for the parser, and the names of the oddities that were taken out of it."""

    text: str
    oddities: tuple[str, ...]


class _Edit(NamedTuple):
    start: int
    end: int
    text: str
    oddity: str


def respelled(expression: Expression, server: ServerInfo) -> Respelling:
    """Replace every oddity the parser is known to refuse."""
    edits = sorted((*_windows(expression), *_shifts(expression), *_words(expression, server)))
    pieces, at = [], 0
    for edit in edits:
        pieces += [expression.text[at : edit.start], edit.text]
        at = edit.end
    text = "".join([*pieces, expression.text[at:]])
    return Respelling(text, tuple(sorted({edit.oddity for edit in edits})))


def _words(expression: Expression, server: ServerInfo) -> list[_Edit]:
    """Respell what is odd about a single token."""
    informing = any(t.text.lower() == "info" for t in expression.having(Role.FUNCTION))
    edits = []
    for token, role in zip(expression.tokens, expression.roles, strict=True):
        if role is Role.SHIFT or role is Role.WINDOW:
            continue
        found = _symbol(token, role, server) or _literal(token, role)
        if found is None and informing and role is Role.SELECTOR and token.text == "{":
            found = ('{info="1",', "info() without a matcher")
        if found is not None:
            edits.append(_Edit(token.start, token.end, *found))
    return edits


def _symbol(token: Token, role: Role, server: ServerInfo) -> tuple[str, str] | None:
    text = token.text.lower()
    if text in _TRIMS and role is Role.BINARY:
        return "*", "histogram trim"
    if text in _EXTENDED and token.kind is Kind.WORD:
        return "" if role is Role.EXTENDED else f"{text}_", "anchored or smoothed"
    if role is Role.LABEL and ":" in text and token.kind is Kind.WORD:
        return text.replace(":", "_"), "colon in a label"
    if text == GONE_IN_THREE and role is Role.FUNCTION and server.before_three:
        return "double_exponential_smoothing", GONE_IN_THREE
    return None


def _literal(token: Token, role: Role) -> tuple[str, str] | None:
    match token.kind:
        case Kind.NUMBER if "_" in token.text:
            return _DIGITS.sub("", token.text), "digit separator"
        case Kind.DURATION if role is Role.VALUE and seconds(token) == 0:
            return "1s", "zero duration"
        case Kind.STRING if _RE2_ONLY.search(token.text) and role is Role.SELECTOR:
            return '"x"', "regular expression"
        case Kind.STRING if token.text.startswith("`") and "\\" in token.text:
            return quote(unquote(token.text)), "backslash in a raw string"
        case _:
            return None


def _windows(expression: Expression) -> list[_Edit]:
    """Respell a range or a step that is more than one literal."""
    windows = expression.regions(Role.WINDOW)
    parts = (p for start, end in windows for p in _parts(expression.tokens[start + 1 : end - 1]))
    odd = (part for part in parts if part and not _is_literal(part) and _is_amount(part))
    return [_Edit(part[0].start, part[-1].end, " 1m", "duration expression") for part in odd]


def _parts(inner: Sequence[Token]) -> tuple[Sequence[Token], Sequence[Token]]:
    """Part the range from the step."""
    colon = next((at for at, token in enumerate(inner) if token.text == ":"), len(inner))
    return inner[:colon], inner[colon + 1 :]


def _shifts(expression: Expression) -> list[_Edit]:
    """Respell an offset that is more than a sign and a literal."""
    edits = []
    for start, end in expression.regions(Role.SHIFT):
        amount = expression.tokens[start:end]
        signs = 1 if amount[0].text in {"+", "-"} else 0
        literal = _is_literal(amount[signs:]) and seconds(amount[signs]) > 0
        if expression.roles[start - 1] is Role.OFFSET and not literal and _is_amount(amount):
            edits.append(_Edit(amount[0].start, amount[-1].end, " 1m", "duration expression"))
    return edits


def _is_literal(part: Sequence[Token]) -> bool:
    """Whether the parser reads it as a duration by itself."""
    match part:
        case [Token(kind=Kind.DURATION)]:
            return True
        case [Token(kind=Kind.NUMBER, text=text)]:
            return "_" not in text and not text.startswith(".") and seconds(part[0]) < LONGEST_S
        case _:
            return False


def _is_amount(part: Sequence[Token]) -> bool:
    """Whether it is arithmetic on durations: read with each of them as a plain number."""
    spelled = []
    for token in part:
        if token.kind is Kind.WORD and token.text.lower() not in _AMOUNT_WORDS:
            return False
        literal = token.kind in {Kind.DURATION, Kind.NUMBER}
        spelled.append("1" if literal else token.text.lower())
    return parses(" ".join(spelled))


def panics(expression: Expression) -> bool:
    """Whether the parser would panic: a range, step or offset that no duration can hold."""
    return any(
        token.text.lower() in {"inf", "nan"} or seconds(token) >= LONGEST_S
        for token in expression.having(Role.WINDOW, Role.SHIFT)
        if token.kind in {Kind.WORD, Kind.NUMBER}
    )
