"""The local check: does an expression parse, as far as it can be known without asking a server."""

from enum import StrEnum

from engine.model.base import Frozen
from engine.promql.caps import over
from engine.promql.doubts import doubt
from engine.promql.expression import Expression
from engine.promql.parser import Unparsable, parse, parses
from engine.promql.policy import Policy, refusal
from engine.promql.respell import panics, respelled
from engine.promql.server import DEFAULT, ServerInfo


class Verdict(StrEnum):
    """What is known of an expression before it is sent."""

    VALID = "valid"
    INVALID = "invalid"
    UNSURE = "unsure"
    """Only the server's own parser can tell; inconclusive when it cannot be asked."""


class InvalidReason(StrEnum):
    """Why an expression is never sent as it is."""

    SYNTAX = "syntax"
    POLICY = "policy"
    """A limit or a rule of ours; no repair of the syntax can help."""
    SCOPE = "scope"
    """Its selectors cannot be narrowed safely."""


class PromqlVerdict(Frozen):
    """The outcome of the local check."""

    verdict: Verdict
    reason: InvalidReason | None = None
    """Set when, and only when, the verdict is `invalid`."""
    detail: str = ""
    """The parser's sentence, the broken limit or the cause of doubt."""


def check(
    expr: str, *, server: ServerInfo | None = None, policy: Policy | None = None
) -> PromqlVerdict:
    """Judge `expr` without asking anyone; the process survives whatever it is.

    Args:
        expr: the text as it would be sent.
        server: who would be asked; None means Prometheus 3 with its default flags.
        policy: what a model may ask for; None for an operator's own rules and queries.
    """
    expression = Expression(expr)
    broken = over(expression)
    if policy is not None:
        broken = broken or refusal(expression, policy)
    if broken:
        return _invalid(InvalidReason.POLICY, broken)
    return _parsed(expression, server or DEFAULT)


def _parsed(expression: Expression, server: ServerInfo) -> PromqlVerdict:
    fatal = panics(expression)
    tree = Unparsable(detail="a duration out of range") if fatal else parse(expression.text)
    if not isinstance(tree, Unparsable):
        reason = doubt(expression, server)
        return _unsure(reason) if reason else PromqlVerdict(verdict=Verdict.VALID)
    known = respelled(expression, server)
    if known.oddities and not panics(Expression(known.text)) and parses(known.text):
        return _unsure(", ".join(known.oddities))
    return _invalid(InvalidReason.SYNTAX, tree.detail)


def _unsure(detail: str) -> PromqlVerdict:
    return PromqlVerdict(verdict=Verdict.UNSURE, detail=detail)


def _invalid(reason: InvalidReason, detail: str) -> PromqlVerdict:
    return PromqlVerdict(verdict=Verdict.INVALID, reason=reason, detail=detail)
