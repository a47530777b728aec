"""What bears a claim beyond the alert itself told once more."""

from functools import lru_cache

from engine.model.evidence import QueryOutcome
from engine.model.finding import CheckResult
from engine.model.ledger import LedgerEntry, ToolName
from engine.model.pack import (
    AlertFacts,
    HistoryFacts,
    Item,
    MetricDigest,
    Pack,
    PriorFacts,
    TextFacts,
)
from engine.promql.repair import same_meaning
from engine.promql.threshold import comparison_stripped
from engine.verification.accused import Accused

_MEASURING = frozenset(
    {
        ToolName.METRICS_NOW,
        ToolName.METRICS_OVER_TIME,
        ToolName.CHANGES,
        ToolName.KUBERNETES_EVENTS,
    }
)
"""Tools that tell of the thing itself in words not just anybody can write."""


def borne_by_answers(accused: Accused) -> bool:
    """Whether a cited check or tool was answered with more than the alert, by no open text."""
    results = [result for result in accused.results if result.id in accused.cited]
    looked = [entry for entry in accused.ledger if entry.id in accused.cited]
    return any(_independent_result(result, accused.pack) for result in results) or any(
        _independent_entry(entry, accused.pack) for entry in looked
    )


def _independent_entry(entry: LedgerEntry, pack: Pack) -> bool:
    if entry.outcome is not QueryOutcome.FETCHED or entry.tool not in _MEASURING:
        return False
    return not restates(entry.asked, pack.anchor.expression)


def independent(item: Item) -> bool:
    """Whether a piece of the pack tells more than the alert, in words not anyone can write."""
    match item.facts:
        case MetricDigest(own_expression=own):
            return not own
        case AlertFacts() | HistoryFacts() | PriorFacts():
            return False
        case TextFacts(untrusted=untrusted):
            return not untrusted
        case _:
            return True


def _independent_result(result: CheckResult, pack: Pack) -> bool:
    """Whether a check asked a backend something other than what the alert already says."""
    if result.outcome is not QueryOutcome.FETCHED or result.backend is None:
        return False
    return not restates(result.asked, pack.anchor.expression)


@lru_cache(512)
def restates(query: str, expression: str | None) -> bool:
    """Whether a query is the alert's own expression, with or without its threshold."""
    if expression is None:
        return False
    series = comparison_stripped(expression) or expression
    bare = comparison_stripped(query) or query
    return _same(query, expression) or _same(bare, series)


def _same(one: str, other: str) -> bool:
    return "".join(one.split()) == "".join(other.split()) or same_meaning(one, other)
