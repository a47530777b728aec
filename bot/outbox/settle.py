"""What becomes of a card after a send: shown, put off, moved to another room, or given up."""

import logging

from bot.chats.chat import (
    Ambiguous,
    Failure,
    Gone,
    Moved,
    RateLimited,
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
from bot.outbox.subjects import Drawn, room_of
from bot.telemetry import Telemetry
from cards.notice import Notice
from engine.model.org import Platform
from engine.ports import Clock
from storage.outbox import CardTask, MessageTask
from storage.store import SqlStore

log = logging.getLogger(__name__)

MOST_TRIES = 100
"""Tries without an answer before a card goes elsewhere: an hour and a half."""
LONGEST_S = 60.0
RESEND_S = 30.0
"""Wait before a post nobody knows the end of is repeated where it cannot be looked for."""
LONGEST_RESEND_S = 600.0
TOKEN_PAUSE_S = 60.0
AFTER_LIMIT_S = 0.2
"""On top of what a server asked for, so that its clock and ours agree."""
BLIND = Traits(finds=False, silences=False)


def backoff_s(attempts: int) -> float:
    """Wait after the nth try in a row without an answer."""
    return min(LONGEST_S, float(1 << min(attempts, 10)))


def unsure_s(attempts: int, *, edit: bool, finds: bool) -> float:
    """Wait after a send of which nobody knows how it ended: long where a repeat may double it."""
    if edit or finds:
        return backoff_s(attempts)
    return min(LONGEST_RESEND_S, RESEND_S * (1 << min(attempts - 1, 10)))


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
            await tx.org.move_chat(task.platform, drawn.room.chat, chat_id)
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


def waits_s(
    pace: Pace,
    clock: Clock,
    task: CardTask | MessageTask,
    result: SendResult,
    traits: Traits,
) -> float:
    """How long to wait after a send that came to nothing; the chat or platform waits with it."""
    now_s = clock.monotonic()
    match result:
        case RateLimited(wait_s=asked_s):
            pace.wait(task.chat_key, asked_s + AFTER_LIMIT_S, now_s)
            return asked_s + AFTER_LIMIT_S
        case TokenDead():
            pace.pause(task.platform, TOKEN_PAUSE_S, now_s)
            return TOKEN_PAUSE_S
        case Ambiguous():
            edit = task.message_ref is not None
            return unsure_s(task.attempts, edit=edit, finds=traits.finds)
        case Unreachable():
            return backoff_s(task.attempts)
        case _:
            return 0.0


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
                room = await room_of(tx, task.room_id)
                await tx.org.break_room(room.id, reason)
        await self.dead(task, reason)

    async def dead(self, task: MessageTask, error: str) -> None:
        """Give a message up."""
        async with self._store.begin() as tx:
            await tx.outbox.message_dead(task, error)
        self.count(task, "dead")
