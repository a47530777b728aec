"""What each token does in its expression: a metric, a function, a keyword, a label, a bracket.

PromQL lets most keywords be metric names, so a word is read by its place: where an operand is
expected, or behind one. Broken text is read as far as it goes; nothing here fails.
"""

from collections.abc import Callable, Sequence
from enum import Enum, auto
from typing import Final

from engine.promql.tokens import Kind, Token

AGGREGATIONS: Final = frozenset(
    {"sum", "avg", "count", "min", "max", "group", "stddev", "stdvar", "topk", "bottomk"}
    | {"quantile", "count_values", "limitk", "limit_ratio"}
)
SET_OPERATORS: Final = frozenset({"and", "or", "unless"})
COMPARISONS: Final = frozenset({"==", "!=", ">", "<", ">=", "<="})
CLAUSES: Final = frozenset({"by", "without"})
_MATCHINGS = frozenset({"on", "ignoring", "group_left", "group_right"})
_FILLS = frozenset({"fill", "fill_left", "fill_right"})
_EXTENDED = frozenset({"anchored", "smoothed"})
_BINARY = frozenset({*COMPARISONS, "</", ">/", "+", "-", "*", "/", "%", "^"})
CLOSER: Final = {"(": ")", "[": "]", "{": "}"}
_OPENER = {closer: opener for opener, closer in CLOSER.items()}


class Role(Enum):
    """What a token does."""

    METRIC = auto()
    FUNCTION = auto()
    AGGREGATION = auto()
    CLAUSE = auto()
    """`by` or `without`."""
    MATCHING = auto()
    """`on`, `ignoring`, `group_left`, `group_right`."""
    FILL = auto()
    BINARY = auto()
    """A binary operator, symbol or word."""
    SIGN = auto()
    BOOL = auto()
    OFFSET = auto()
    AT = auto()
    EXTENDED = auto()
    """`anchored` or `smoothed`."""
    LABEL = auto()
    """A name in a grouping or matching list."""
    VALUE = auto()
    """A number, duration or string where an operand stands."""
    SELECTOR = auto()
    """Whatever stands between braces, the braces included."""
    WINDOW = auto()
    """Whatever stands between brackets, the brackets included."""
    SHIFT = auto()
    """What follows `offset`."""
    INSTANT = auto()
    """What follows `@`."""
    OPEN = auto()
    CLOSE = auto()
    COMMA = auto()
    UNKNOWN = auto()


class _Scan:
    """One pass over significant tokens; `at` only grows."""

    def __init__(self, found: Sequence[Token]) -> None:
        self.found = found
        self.roles: list[Role] = []
        self.operand = True
        """Whether an operand is expected next."""

    def run(self) -> tuple[Role, ...]:
        while len(self.roles) < len(self.found):
            token = self.found[len(self.roles)]
            match token.kind:
                case Kind.WORD:
                    (self._operand_word if self.operand else self._operator_word)(token.text)
                case Kind.OP:
                    self._symbol(token.text)
                case Kind.NUMBER | Kind.DURATION | Kind.STRING:
                    self._take(Role.VALUE, operand=False)
                case _:
                    self._take(Role.UNKNOWN, operand=False)
        return tuple(self.roles)

    def _take(self, role: Role, *, operand: bool) -> None:
        self.roles.append(role)
        self.operand = operand

    def _ahead(self, steps: int = 0) -> str:
        at = len(self.roles) + steps
        return self.found[at].text if at < len(self.found) else ""

    def _operand_word(self, text: str) -> None:
        word, following = text.lower(), self._ahead(1).lower()
        if word in _MATCHINGS:
            self._take(Role.MATCHING, operand=True)
            self._list()
        elif word in _FILLS and following == "(" and self._modifies():
            self._take(Role.FILL, operand=True)
            self._enclosed(Role.FILL)
        elif word == "bool":
            self._take(Role.BOOL, operand=True)
        elif word in {"inf", "nan"}:
            self._take(Role.VALUE, operand=False)
        elif word in AGGREGATIONS and following in {"(", *CLAUSES}:
            self._aggregation(following)
        elif following == "(":
            self._take(Role.FUNCTION, operand=True)
        else:
            self._take(Role.METRIC, operand=False)

    def _modifies(self) -> bool:
        """Whether it is a binary operator that stands before, be it with other modifiers."""
        modifiers = {Role.LABEL, Role.BOOL, Role.MATCHING, Role.FILL}
        return next((r for r in reversed(self.roles) if r not in modifiers), None) is Role.BINARY

    def _aggregation(self, following: str) -> None:
        if following in CLAUSES and self._ahead(2) != "(":
            self._take(Role.METRIC, operand=False)
            return
        self._take(Role.AGGREGATION, operand=True)
        if following in CLAUSES:
            self._take(Role.CLAUSE, operand=True)
            self._list()

    def _operator_word(self, text: str) -> None:
        word = text.lower()
        if word in SET_OPERATORS or word == "atan2":
            self._take(Role.BINARY, operand=True)
        elif word == "offset":
            self._take(Role.OFFSET, operand=False)
            self._amount(Role.SHIFT)
        elif word in CLAUSES:
            self._take(Role.CLAUSE, operand=False)
            self._list()
        elif word in _EXTENDED:
            self._take(Role.EXTENDED, operand=False)
        else:
            self._take(Role.UNKNOWN, operand=False)

    def _symbol(self, text: str) -> None:
        if text in {"{", "["}:
            self._selector() if text == "{" else self._enclosed(Role.WINDOW)
            self.operand = False
        elif text == "(":
            self._take(Role.OPEN, operand=True)
        elif text in _OPENER:
            self._take(Role.CLOSE, operand=False)
        elif text == ",":
            self._take(Role.COMMA, operand=True)
        elif text == "@":
            self._take(Role.AT, operand=False)
            self._amount(Role.INSTANT)
        elif self.operand and text in {"+", "-"}:
            self._take(Role.SIGN, operand=True)
        elif text in _BINARY:
            self._take(Role.BINARY, operand=True)
        else:
            self._take(Role.UNKNOWN, operand=True)

    def _selector(self) -> None:
        """Take the braces; a bracket inside can only mean that the closing brace is missing."""
        self._while(Role.SELECTOR, lambda t: t.kind is not Kind.OP or t.text not in "()[]}")
        if self._ahead() == "}":
            self.roles.append(Role.SELECTOR)

    def _enclosed(self, role: Role) -> None:
        """Take from an opener to its closer; a foreign closer ends what was left open."""
        depth = 0
        while (text := self._ahead()) and text not in "{}":
            depth += (text in {"(", "["}) - (text in {")", "]"})
            if depth == 0 and text == ")" and role is Role.WINDOW:
                return
            self.roles.append(role)
            if depth == 0:
                return

    def _list(self) -> None:
        """Take a list of labels in parentheses; what is no label ends a list left open."""
        if self._ahead() != "(":
            return
        self.roles.append(Role.LABEL)
        self._while(Role.LABEL, lambda t: t.kind in {Kind.WORD, Kind.STRING} or t.text == ",")
        if self._ahead() == ")":
            self.roles.append(Role.LABEL)

    def _while(self, role: Role, wanted: Callable[[Token], bool]) -> None:
        while len(self.roles) < len(self.found) and wanted(self.found[len(self.roles)]):
            self.roles.append(role)

    def _amount(self, role: Role) -> None:
        """Take the sign and the amount; an amount may be a call or stand in parentheses."""
        self._while(role, lambda t: t.text in {"+", "-"})
        if self._ahead() not in {"(", ")", "]", "}", ",", ""}:
            self.roles.append(role)
        if self._ahead() == "(":
            self._enclosed(role)


def roles(found: Sequence[Token]) -> tuple[Role, ...]:
    """Say what each significant token does, in the tokens' order."""
    return _Scan(found).run()
