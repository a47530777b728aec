"""What the stages of one client may touch, and the rules they go by."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from engine.investigation.session import JudgePorts
from engine.model.base import Frozen
from engine.model.event import EventFacts, SessionEvent
from engine.model.policy import (
    Budget,
    CorrelationRule,
    PackRule,
    RecheckRule,
    RecurrenceRule,
    TriageRule,
)
from engine.model.run import Run
from engine.pack.section import Ports as PackPorts
from engine.ports import Store


class StageRules(Frozen):
    """What the stages of one client go by."""

    correlation: CorrelationRule = CorrelationRule()
    pack: PackRule = PackRule()
    recurrence: RecurrenceRule = RecurrenceRule()
    triage: TriageRule = TriageRule()
    recheck: RecheckRule = RecheckRule()
    budget: Budget = Budget()


Listener = Callable[[Run, SessionEvent, EventFacts], Awaitable[None]]


async def nobody(_: Run, __: SessionEvent, ___: EventFacts) -> None:
    """Listen to nothing."""


@dataclass(frozen=True)
class World:
    """The world of one client."""

    store: Store
    pack: PackPorts
    judge: JudgePorts | None
    """None when no model is configured."""
    rules: StageRules
    provider: str = ""
    """The model's provider, by which its outages are known."""
    rehearsal_model: bool = False
    listen: Listener = field(default=nobody)

    async def emit(self, run: Run, kind: SessionEvent, facts: EventFacts) -> None:
        """Keep a step of a session and tell whoever listens."""
        async with self.store.begin() as tx:
            await tx.steps.append(run, kind, facts)
        await self.listen(run, kind, facts)
