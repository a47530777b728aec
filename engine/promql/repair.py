"""Whether a repaired query still asks what the broken one asked.

The broken text has no syntax tree, so token sequences are compared. Four things may differ: a
`by`/`without` clause moved within its aggregation, one `sum` around the operand of a clause that
had no aggregation, added closing brackets (and closing brackets gone that closed nothing), and the
order of matchers inside a selector.
"""

from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import NamedTuple

from engine.promql.caps import MAX_NESTING, over
from engine.promql.check import Verdict, check
from engine.promql.expression import Expression
from engine.promql.operand import operand_start
from engine.promql.policy import Policy
from engine.promql.scan import CLOSER, Role
from engine.promql.server import ServerInfo
from engine.promql.strings import unquote
from engine.promql.tokens import Kind, Token

_KEYWORDS = frozenset(
    {Role.AGGREGATION, Role.CLAUSE, Role.MATCHING, Role.BINARY, Role.BOOL, Role.OFFSET, Role.FILL}
)
_CLOSERS = frozenset(CLOSER.values())


class Repair(StrEnum):
    """What became of a query that was sent to repair."""

    REPAIRED = "repaired"
    STILL_BROKEN = "still_broken"
    CHANGED_MEANING = "changed_meaning"


class _Part(NamedTuple):
    """A token, or a selector's matchers in one; an aggregation carries its clause."""

    text: str
    clause: tuple[str, ...] = ()


def judge_repair(
    original: str,
    replacement: str,
    *,
    server: ServerInfo | None = None,
    policy: Policy | None = None,
) -> Repair:
    """Judge a replacement: it must parse, or may parse on the server, and mean the same."""
    if check(replacement, server=server, policy=policy).verdict is Verdict.INVALID:
        return Repair.STILL_BROKEN
    same = same_meaning(original, replacement)
    return Repair.REPAIRED if same else Repair.CHANGED_MEANING


def same_meaning(original: str, replacement: str) -> bool:
    """Whether `replacement` differs from `original` only in what a repair may rearrange."""
    old, new = Expression(original), Expression(replacement)
    if any(over(e) for e in (old, new)):
        return False
    repaired = [*_readings(new)]
    return any(_closes(was, now) for was in _readings(old) for now in repaired[:1])


def _readings(expression: Expression) -> Iterator[list[_Part]]:
    """Give the ways to read it: one, or one for each aggregation an orphaned clause may have."""
    clauses = [*clauses_of(expression)]
    if len(clauses) > MAX_NESTING:
        return
    owners = [owner_of(expression, start) for start, _ in clauses]
    taken = [owner for owner in owners if owner is not None]
    orphans = [n for n, owner in enumerate(owners) if owner is None]
    if len(orphans) > 1 or len(set(taken)) < len(taken):
        return
    owned = {
        o: _spelled(expression, c) for o, c in zip(owners, clauses, strict=True) if o is not None
    }
    if not orphans:
        yield _balanced(_parts(expression, clauses, owned))
        return
    orphan = clauses[orphans[0]]
    text = _spelled(expression, orphan)
    around = _enclosing(expression, orphan[0])
    if around is not None and around not in owned:
        yield _balanced(_parts(expression, clauses, {**owned, around: text}))
    start = operand_start(expression, orphan[0])
    if start is not None and start not in owned:
        wrap = {start: [_Part("sum", text), _Part("(")], orphan[0]: [_Part(")")]}
        yield _balanced(_parts(expression, clauses, owned, wrap))
        if expression.roles[start] is Role.OPEN:  # the operand's own brackets serve as the call's
            bare = {start: [_Part("sum", text)]}
            yield _balanced(_parts(expression, clauses, owned, bare))


def clauses_of(expression: Expression) -> Iterator[tuple[int, int]]:
    """Give the index ranges of the `by` and `without` clauses."""
    for at in expression.places(Role.CLAUSE):
        end = at + 1
        while end < len(expression.roles) and expression.roles[end] is Role.LABEL:
            end += 1
        yield at, end


def _spelled(expression: Expression, clause: tuple[int, int]) -> tuple[str, ...]:
    """Spell a clause; its own brackets say nothing."""
    inner = expression.tokens[clause[0] : clause[1]]
    words = [_text(t, Role.CLAUSE) for t in inner if t.text not in {"(", ")", ","}]
    return (words[0], *words[1:])


def owner_of(expression: Expression, clause: int) -> int | None:
    """Give the aggregation right before a clause, or the one whose call ends right before it."""
    if clause > 0 and expression.roles[clause - 1] is Role.AGGREGATION:
        return clause - 1
    start = operand_start(expression, clause)
    called = start is not None and expression.roles[clause - 1] is Role.CLOSE
    return start if called and expression.roles[start or 0] is Role.AGGREGATION else None


def _enclosing(expression: Expression, place: int) -> int | None:
    """Give the innermost aggregation whose parentheses are open at `place`."""
    callers: list[int | None] = []
    for at in range(place):
        if expression.roles[at] is Role.OPEN:
            callers.append(_caller(expression, at))
        elif expression.roles[at] is Role.CLOSE and callers:
            callers.pop()
    return next((caller for caller in reversed(callers) if caller is not None), None)


def _caller(expression: Expression, opened: int) -> int | None:
    at = opened - 1
    while at > 0 and expression.roles[at] in {Role.LABEL, Role.CLAUSE}:
        at -= 1
    return at if at >= 0 and expression.roles[at] is Role.AGGREGATION else None


def _parts(
    expression: Expression,
    clauses: Sequence[tuple[int, int]],
    owned: dict[int, tuple[str, ...]],
    added: dict[int, list[_Part]] | None = None,
) -> list[_Part]:
    """Give the tokens without clauses, each clause with its aggregation."""
    moved = {at for start, end in clauses for at in range(start, end)}
    selectors = dict(expression.regions(Role.SELECTOR))
    parts: list[_Part] = []
    for at, token in enumerate(expression.tokens):
        parts += (added or {}).get(at, [])
        if at in selectors:
            parts += _selector(expression.tokens[at : selectors[at]])
        elif at not in moved and expression.roles[at] is not Role.SELECTOR:
            parts.append(_Part(_text(token, expression.roles[at]), owned.get(at, ())))
    return parts


def _selector(region: Sequence[Token]) -> Iterator[_Part]:
    """Give the matchers in one order; commas part them and say nothing else."""
    closed = region[-1].text == "}"
    matchers: list[list[str]] = [[]]
    for token in region[1 : len(region) - closed]:
        if token.text == ",":
            matchers.append([])
        else:
            matchers[-1].append(_text(token, Role.SELECTOR))
    yield _Part("{", tuple(sorted("".join(m) for m in matchers if m)))
    if closed:
        yield _Part("}")


def _text(token: Token, role: Role) -> str:
    """Spell a token so that another quote or a keyword's case makes no difference."""
    if token.kind is Kind.STRING:
        return repr(unquote(token.text))
    return token.text.lower() if role in _KEYWORDS and token.kind is Kind.WORD else token.text


def _balanced(parts: list[_Part]) -> list[_Part]:
    """Leave out closing brackets that close nothing."""
    kept: list[_Part] = []
    wanted: list[str] = []
    for part in parts:
        if part.text in CLOSER:
            wanted.append(CLOSER[part.text])
        elif part.text in _CLOSERS:
            if part.text not in wanted:
                continue
            while wanted.pop() != part.text:
                pass
        kept.append(part)
    return kept


def _closes(was: list[_Part], now: list[_Part]) -> bool:
    """Whether `now` is `was` with nothing but closing brackets added."""
    waiting = iter(was)
    expected = next(waiting, None)
    for part in now:
        if part == expected:
            expected = next(waiting, None)
        elif part.text not in _CLOSERS:
            return False
    return expected is None
