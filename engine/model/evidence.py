"""Questions to the outside and the few kinds of answer there are."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import AwareDatetime, Field

from engine.model.base import Frozen


class Window(Frozen):
    """A stretch of time, evaluated every `step_s` seconds."""

    start_at: AwareDatetime
    end_at: AwareDatetime
    step_s: float = Field(gt=0)


class Question(Frozen):
    """What one evidence tool is asked; the client is bound to the tool, never an argument."""

    tool: str
    queries: Mapping[str, str]
    """Expressions by the name their result is known by."""
    at: AwareDatetime | None = None
    """Instant to evaluate at; None means now, unless `window` is given."""
    window: Window | None = None


class Series(Frozen):
    """One labelled line of numbers."""

    labels: Mapping[str, str] = {}
    points: tuple[tuple[float, float], ...]
    """(unix seconds, value), oldest first; not-a-number points are dropped at the edge."""

    @property
    def last(self) -> float:
        """The newest value."""
        return self.points[-1][1]


class Answered(Frozen):
    """The backend answered with at least one series or line."""

    kind: Literal["answered"] = "answered"
    evaluated_at: AwareDatetime
    results: Mapping[str, tuple[Series, ...]] = {}
    lines: tuple[str, ...] = ()
    """Text answers (logs, events), oldest first."""
    truncated: int = 0
    """Series or lines the caps left out."""

    def figure(self, name: str) -> float | None:
        """The one number a query came to; None when it gave none or several."""
        series = self.results.get(name, ())
        return series[0].last if len(series) == 1 else None


class Empty(Frozen):
    """The backend answered, and nothing matched. Inconclusive, never a contradiction."""

    kind: Literal["empty"] = "empty"
    evaluated_at: AwareDatetime


class InvalidReason(StrEnum):
    """Why a query never ran."""

    SYNTAX = "syntax"
    POLICY = "policy"
    SCOPE = "scope"
    BAD_DATA = "bad_data"
    """The backend itself refused the expression."""
    UNSURE = "unsure"
    """Neither the local check nor the server could say."""


class Invalid(Frozen):
    """The query never ran: its own fault, not the backend's."""

    kind: Literal["invalid"] = "invalid"
    expression: str
    reason: InvalidReason
    detail: str = ""


class GapCause(StrEnum):
    """Why the backend could not answer."""

    TIMED_OUT = "timed_out"
    UNREACHABLE = "unreachable"
    REFUSED = "refused"
    GARBLED = "garbled"
    TOO_LARGE = "too_large"
    BREAKER_OPEN = "breaker_open"
    NOT_LET_IN = "not_let_in"
    """It does not know us, or does not allow us this."""
    TOO_OFTEN = "too_often"
    """It is asked more than it wants to be."""


class Gap(Frozen):
    """The backend could not answer."""

    kind: Literal["gap"] = "gap"
    cause: GapCause
    detail: str = ""


Outcome = Annotated[Answered | Empty | Invalid | Gap, Field(discriminator="kind")]


class QueryOutcome(StrEnum):
    """How one check of the round ended; never merged anywhere."""

    FETCHED = "fetched"
    EMPTY = "empty"
    DEGRADED = "degraded"
    """Our time-out."""
    FAILED = "failed"
    """A hard error."""
    INVALID = "invalid"


def outcome_of(outcome: Outcome) -> QueryOutcome:
    """Name how a question ended."""
    match outcome:
        case Answered():
            return QueryOutcome.FETCHED
        case Empty():
            return QueryOutcome.EMPTY
        case Invalid():
            return QueryOutcome.INVALID
        case Gap(cause=GapCause.TIMED_OUT):
            return QueryOutcome.DEGRADED
        case Gap():
            return QueryOutcome.FAILED
