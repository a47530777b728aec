"""A count of the good ones over all of them, on a ladder of scopes: what floor checks ask."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from engine.model.evidence import Answered, Empty, Gap, Invalid, QueryOutcome, Question
from engine.ports import EvidenceTool
from engine.verification.kind import Reach, Seen, plain, unanswered
from engine.verification.scope import Scope


@dataclass(frozen=True)
class Ratio:
    """What is counted and in which words."""

    name: str
    good: Callable[[str], str]
    """Writes the query of the good ones, given what stands between a selector's braces."""
    every: Callable[[str], str]
    note: str = ""


async def climb(ratio: Ratio, scopes: Sequence[Scope], tool: EvidenceTool, reach: Reach) -> Seen:
    """Ask scope by scope until one answers; each step is one question."""
    evaluated_at = reach.clock.now()
    for step, scope in enumerate(scopes):
        inner = scope.matchers(extra=reach.extra_matchers)
        question = Question(
            tool=tool.name, queries={"good": ratio.good(inner), "every": ratio.every(inner)}
        )
        outcome = await tool.ask(question)
        if isinstance(outcome, Gap | Invalid):
            name = f"{ratio.name} in {plain(str(scope))}"
            asked = question.queries["good"]
            return unanswered(outcome, asked=asked, name=name)
        evaluated_at = outcome.evaluated_at
        figures = _figures(outcome)
        if figures is not None:
            return _found(ratio, scopes[: step + 1], question, figures, evaluated_at)
    return _nothing(ratio, scopes[0], reach, evaluated_at)


def _figures(outcome: Answered | Empty) -> dict[str, float] | None:
    """Read the pair; no target at all is no answer."""
    if isinstance(outcome, Empty):
        return None
    good, every = outcome.figure("good"), outcome.figure("every")
    return {"good": good, "every": every} if good is not None and every else None


def _found(
    ratio: Ratio,
    scopes: Sequence[Scope],
    question: Question,
    figures: dict[str, float],
    evaluated_at: datetime,
) -> Seen:
    """Say the pair with its scope, and the narrower scopes that held nothing."""
    *passed, scope = scopes
    text = "".join(f"{ratio.name} (no data) in {plain(str(one))}; " for one in passed)
    text += f"{ratio.name} {figures['good']:.0f}/{figures['every']:.0f} in {plain(str(scope))}"
    unscoped = "" if scope.narrow else ", unscoped"
    note = f" ({ratio.note}{unscoped})" if ratio.note else ""
    return Seen(
        asked=question.queries["good"],
        outcome=QueryOutcome.FETCHED,
        text=f"{text} at {evaluated_at:%H:%M:%S}Z{note}",
        scope=scope.labels,
        scoped=scope.narrow,
        evaluated_at=evaluated_at,
        figures=figures,
    )


def _nothing(ratio: Ratio, scope: Scope, reach: Reach, evaluated_at: datetime) -> Seen:
    return Seen(
        asked=ratio.good(scope.matchers(extra=reach.extra_matchers)),
        outcome=QueryOutcome.EMPTY,
        text=f"{ratio.name} (no data) in {plain(str(scope))} at {evaluated_at:%H:%M:%S}Z",
        scope=scope.labels,
        scoped=scope.narrow,
        evaluated_at=evaluated_at,
    )
