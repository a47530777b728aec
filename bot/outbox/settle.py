"""What becomes of a card after a send: shown, put off, moved to another room, or given up."""

import logging

from bot.chats.chat import (
    Ambiguous,
    Failure,
    Gone,
    Moved,
    Refused,
    RoomBroken,
    SendResult,
    Sent,
    TokenDead,
    Traits,
    Unchanged,
    Unreachable,
)
from bot.outbox.pace import Pace
from bot.outbox.subjects import Drawn
from bot.outbox.waits import BLIND, MOST_TRIES, waits_s
from bot.telemetry import Telemetry
from cards.notice import Notice
from engine.model.org import Platform
from engine.ports import Clock
from storage.outbox import CardTask
from storage.store import SqlStore

log = logging.getLogger(__name__)


class Settler:
    """Settles cards."""

    def __init__(self, store: SqlStore, clock: Clock, telemetry: Telemetry, pace: Pace) -> None:
        """Settle in `store`; waits are kept in `pace`."""
        self._store = store
        self._clock = clock
        self._telemetry = telemetry
        self._pace = pace

    def count(self, task: CardTask, result: str) -> None:
        """Count how a card's send ended."""
        kind = "card" if task.message_ref is None else "edit"
        kind = "notice" if task.subject_kind == "notice" else kind
        self._telemetry.count(
            "chat_messages_total", platform=task.platform, kind=kind, result=result
        )

    async def settle(
        self,
        task: CardTask,
        drawn: Drawn,
        result: SendResult,
        shown: str = "",
        *,
        plain: bool = False,
        traits: Traits = BLIND,
    ) -> None:
        """Record how a send ended."""
        match result:
            case Sent():
                await self._sent(task, drawn, result, shown, plain=plain)
            case Unchanged():
                async with self._store.begin() as tx:
                    await tx.outbox.sent(task, task.message_ref or "", shown, plain=plain)
                self.count(task, "unchanged")
            case Refused(reason=reason) | RoomBroken(reason=reason):
                broken = isinstance(result, RoomBroken)
                await self._elsewhere(task, drawn, reason, broken=broken)
            case TokenDead(reason=reason):
                log.error(
                    "%s takes no message of ours (%s); waiting: %s",
                    task.platform.value,
                    reason,
                    drawn.card.lock_screen,
                )
                await self._off(task, result)
            case Ambiguous() | Unreachable() if task.attempts >= MOST_TRIES:
                await self._elsewhere(task, drawn, result.reason, broken=False)
            case Moved(chat_id=chat_id):
                await self._moved(task, drawn, chat_id)
            case _:
                await self._off(task, result, traits)

    async def _sent(
        self, task: CardTask, drawn: Drawn, sent: Sent, shown: str, *, plain: bool
    ) -> None:
        async with self._store.begin() as tx:
            await tx.outbox.sent(task, sent.ref, shown, plain=plain)
            if sent.chat_id is not None and sent.chat_id != drawn.room.chat:
                await tx.org.resolve_room(task.room_id, sent.chat_id)
            if task.digest_id is not None:
                await tx.outbox.wish_storm(task.digest_id)
            now = await tx.now()
        key = f"{task.platform.value}:{sent.chat_id}"
        if sent.chat_id is not None and key != task.chat_key:
            self._pace.used(task.platform, key, self._clock.monotonic(), edit=False)
        self.count(task, "sent")
        if task.posted_before or task.message_ref is not None:
            return
        if drawn.opened_at is not None:
            seconds = (now - drawn.opened_at).total_seconds()
            self._telemetry.observe("facts_card_seconds", max(0.0, seconds))
        if drawn.audible:
            self._telemetry.count("card_audible_total", platform=task.platform, kind="card")

    async def found(self, task: CardTask, result: Sent | Failure) -> None:
        """Take over a message that was posted after all, or look again later."""
        if isinstance(result, Sent):
            async with self._store.begin() as tx:
                await tx.outbox.adopted(task, result.ref)
            log.info("adopted a card in %s whose answer was lost", task.chat_key)
            return
        await self.later(task, self._wait_s(task, result), posted_nothing=False, counted=False)

    async def _off(self, task: CardTask, result: SendResult, traits: Traits = BLIND) -> None:
        """Put a send off; the wait is the server's where it named one."""
        unsure = isinstance(result, Ambiguous)
        wait_s = self._wait_s(task, result, traits)
        counted = isinstance(result, Ambiguous | Unreachable | Gone)
        lost = isinstance(result, Gone)
        await self.later(task, wait_s, posted_nothing=not unsure, counted=counted, lost=lost)

    def _wait_s(self, task: CardTask, result: SendResult, traits: Traits = BLIND) -> float:
        return waits_s(self._pace, self._clock, task, result, traits)

    async def later(
        self,
        task: CardTask,
        delay_s: float,
        *,
        posted_nothing: bool,
        counted: bool = True,
        lost: bool = False,
    ) -> None:
        """Try again after `delay_s`."""
        async with self._store.begin() as tx:
            await tx.outbox.later(
                task, delay_s, posted_nothing=posted_nothing, counted=counted, lost=lost
            )
        self.count(task, "later")

    async def dead(self, task: CardTask, error: str) -> None:
        """Give a card up."""
        async with self._store.begin() as tx:
            await tx.outbox.dead(task, error)
        self.count(task, "dead")

    async def _moved(self, task: CardTask, drawn: Drawn, chat_id: str) -> None:
        """Follow a chat to its new id; message ids do not carry over."""
        async with self._store.begin() as tx:
            await tx.rooms.follow(task.platform, drawn.room.chat, chat_id)
            await tx.outbox.later(task, 0, posted_nothing=True, counted=False, lost=True)
        log.warning("%s moved to %s", task.chat_key, chat_id)

    async def _elsewhere(self, task: CardTask, drawn: Drawn, reason: str, *, broken: bool) -> None:
        """Take a card to another room, with a dead letter for the one it could not be sent to."""
        said = f"{task.platform.value} {drawn.room.chat}: {reason}"
        async with self._store.begin() as tx:
            if broken:
                await tx.org.break_room(task.room_id, reason)
            target = await tx.outbox.rehome(task)
            if target is None:
                await tx.outbox.dead(task, said)
            else:
                await tx.outbox.letter(task, said)
            if broken and target is not None and target.platform is not Platform.CONSOLE:
                about = f"{Notice.ROOM_UNREACHABLE.value}:{task.room_id}"
                await tx.cards.wish_notice(task.client_id, about, target)
        self.count(task, "dead" if target is None else "refused")
        where = target.id if target else "nowhere"
        log.error(
            "a card could not be sent (%s), it goes to %s: %s", said, where, drawn.card.lock_screen
        )
