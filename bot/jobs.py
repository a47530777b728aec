"""What each job does, and which verb its outcome is."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from bot.telemetry import Telemetry
from bot.worker import Done, GiveUp, Handler, Retry, Settled, Verb
from engine.failures import Dead, RetryAt
from engine.inquiries.answering import answer
from engine.inquiries.ports import InquiryStore
from engine.ports import Clock, DeadReason, Delivery, NewId, Queue
from engine.stages.facts import show_facts
from engine.stages.investigate import LeaseLostError, Outcome, investigate, wait_s
from engine.stages.world import World

UNCONFIGURED = GiveUp(
    reason=DeadReason.TERMINAL, error="its client stands in the configuration no more"
)


@dataclass(frozen=True)
class JobHandlers:
    """The jobs of every client."""

    world: Callable[[str], World]
    """The world of a client as it is now."""
    store: InquiryStore
    new_id: NewId
    clock: Clock
    telemetry: Telemetry

    @property
    def table(self) -> Mapping[Queue, Handler]:
        """Each queue's handler."""
        return {Queue.FACTS: self.facts, Queue.TRIAGE: self.triage}

    async def facts(self, delivery: Delivery) -> Verb:
        """Show an incident's facts."""
        self._count(delivery)
        world = self._world(delivery)
        if world is None:
            return UNCONFIGURED
        await show_facts(delivery.ids["incident_id"], world, self.new_id)
        return Done()

    async def triage(self, delivery: Delivery) -> Verb:
        """Investigate an incident."""
        self._count(delivery)
        world = self._world(delivery)
        if world is None:
            return UNCONFIGURED
        try:
            outcome = await self._done(delivery, world)
        except LeaseLostError:
            return Settled()
        match outcome:
            case RetryAt():
                return Retry(delay_s=wait_s(outcome, self.clock.now()), error="see its run")
            case Dead(reason=reason, said=said):
                self.telemetry.count("triage_dead_letter_total", reason=reason.value)
                return GiveUp(reason=reason, error=said)
            case _:
                return Done()

    async def _done(self, delivery: Delivery, world: World) -> Outcome:
        if "inquiry_id" in delivery.ids:
            return await answer(delivery, world, self.store, self.new_id)
        return await investigate(delivery, world, self.new_id)

    def _world(self, delivery: Delivery) -> World | None:
        try:
            return self.world(delivery.client_id)
        except KeyError:
            return None

    def _count(self, delivery: Delivery) -> None:
        if delivery.number > 1:
            self.telemetry.count("queue_redeliveries_total", queue=delivery.queue.value)
