"""What becomes of a message below a card after a send."""

from bot.chats.chat import (
    Ambiguous,
    Failure,
    Gone,
    Refused,
    RoomBroken,
    SendResult,
    Sent,
    Traits,
    Unchanged,
    Unreachable,
)
from bot.outbox.pace import Pace
from bot.outbox.waits import BLIND, MOST_TRIES, waits_s
from bot.telemetry import Telemetry
from engine.ports import Clock
from storage.outbox import MessageTask
from storage.store import SqlStore


class MessageSettler:
    """Settles messages below cards."""

    def __init__(self, store: SqlStore, clock: Clock, telemetry: Telemetry, pace: Pace) -> None:
        """Settle in `store`; waits are kept in `pace`."""
        self._store = store
        self._clock = clock
        self._telemetry = telemetry
        self._pace = pace

    def count(self, task: MessageTask, result: str) -> None:
        """Count how a message's send ended."""
        self._telemetry.count(
            "chat_messages_total", platform=task.platform, kind="thread", result=result
        )

    async def settle(
        self,
        task: MessageTask,
        result: SendResult,
        shown: str,
        *,
        rings: bool,
        traits: Traits = BLIND,
    ) -> None:
        """Record how a send ended."""
        match result:
            case Sent(ref=ref):
                await self._sent(task, ref, shown, rings=rings)
                self.count(task, "sent")
                if rings and task.message_ref is None:
                    self._telemetry.count(
                        "card_audible_total", platform=task.platform, kind="thread"
                    )
            case Unchanged():
                await self._sent(task, task.message_ref, shown, rings=rings)
                self.count(task, "unchanged")
            case Gone() if task.message_ref is not None:
                await self.later(task, 0, posted_nothing=True, lost=True)
            case Refused(reason=reason) | RoomBroken(reason=reason) | Gone(reason=reason):
                await self._gone(task, reason, broken=isinstance(result, RoomBroken))
            case Ambiguous() | Unreachable() if task.attempts >= MOST_TRIES:
                await self.dead(task, result.reason)
            case _:
                await self._off(task, result, traits)

    async def _sent(self, task: MessageTask, ref: str | None, shown: str, *, rings: bool) -> None:
        async with self._store.begin() as tx:
            await tx.outbox.message_sent(task, ref, shown, audible=rings)

    async def left_out(self, task: MessageTask) -> None:
        """Record that nothing is said: overtaken, or once too often."""
        await self._sent(task, task.message_ref, "", rings=False)

    async def found(self, task: MessageTask, result: Sent | Failure) -> None:
        """Take over a message that was posted after all, or look again later."""
        if isinstance(result, Sent):
            async with self._store.begin() as tx:
                await tx.outbox.message_adopted(task, result.ref)
            return
        wait_s = waits_s(self._pace, self._clock, task, result, BLIND)
        await self.later(task, wait_s, posted_nothing=False, counted=False)

    async def _off(self, task: MessageTask, result: SendResult, traits: Traits) -> None:
        wait_s = waits_s(self._pace, self._clock, task, result, traits)
        unsure = isinstance(result, Ambiguous)
        counted = isinstance(result, Ambiguous | Unreachable)
        await self.later(task, wait_s, posted_nothing=not unsure, counted=counted)

    async def later(
        self,
        task: MessageTask,
        delay_s: float,
        *,
        posted_nothing: bool,
        counted: bool = True,
        lost: bool = False,
    ) -> None:
        """Try again after `delay_s`."""
        async with self._store.begin() as tx:
            await tx.outbox.message_later(
                task, delay_s, posted_nothing=posted_nothing, counted=counted, lost=lost
            )
        self.count(task, "later")

    async def _gone(self, task: MessageTask, reason: str, *, broken: bool) -> None:
        """Give a message up where its room or card is not there; its card says the same."""
        if broken:
            async with self._store.begin() as tx:
                await tx.org.break_room(task.room_id, reason)
        await self.dead(task, reason)

    async def dead(self, task: MessageTask, error: str) -> None:
        """Give a message up."""
        async with self._store.begin() as tx:
            await tx.outbox.message_dead(task, error)
        self.count(task, "dead")
