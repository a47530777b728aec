"""A breaker per backend: after too many gaps in a row it is left alone for a while."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

from engine.model.base import Frozen
from engine.model.evidence import Gap, GapCause, Outcome, Question
from engine.ports import Clock, EvidenceTool

T = TypeVar("T")


class BreakerRule(Frozen):
    """When a backend is left alone, and for how long."""

    gaps: int = 5
    """Gaps in a row that open it."""
    cool_down_s: float = 30


class Fuse:
    """Counts the gaps of one backend and says when it is to be left alone.

    After the cool-down one question goes through: its answer closes the breaker, a gap opens it
    again at once.
    """

    def __init__(self, clock: Clock, rule: BreakerRule | None = None) -> None:
        self._clock = clock
        self._rule = rule or BreakerRule()
        self._gaps = 0
        self._closed_again_s = float("-inf")
        self._trying = False

    async def through(self, question: Callable[[], Awaitable[T]]) -> T | Gap:
        """Put a question; `breaker_open` without having asked."""
        if self._trying or self._clock.monotonic() < self._closed_again_s:
            return Gap(cause=GapCause.BREAKER_OPEN, detail=f"{self._gaps} gaps in a row")
        self._trying = self._gaps >= self._rule.gaps
        try:
            outcome = await question()
        finally:
            self._trying = False
        self._count(outcome)
        return outcome

    def _count(self, outcome: object) -> None:
        self._gaps = self._gaps + 1 if isinstance(outcome, Gap) else 0
        if self._gaps >= self._rule.gaps:
            self._closed_again_s = self._clock.monotonic() + self._rule.cool_down_s


class Breaker:
    """An evidence tool that stops asking a backend which does not answer."""

    def __init__(self, tool: EvidenceTool, clock: Clock, rule: BreakerRule | None = None) -> None:
        self.name = tool.name
        self._tool = tool
        self._fuse = Fuse(clock, rule)

    async def ask(self, question: Question) -> Outcome:
        """Answer, or say how it could not; `breaker_open` without having asked."""
        return await self._fuse.through(lambda: self._tool.ask(question))
