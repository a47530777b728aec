"""Tells the rooms that our own database is down, without asking it anything."""

import asyncio
import logging
from collections.abc import Iterable, Mapping

from bot.chats.chat import Chat, Failure, RateLimited, Sent, Shape, Unchanged, Unreachable
from cards.card import Card
from cards.notice import Notice, notice
from engine.model.org import Platform, Room
from engine.ports import Clock

log = logging.getLogger(__name__)

PATIENCE_S = 3.0
"""A database away for less than this is not worth a message."""
AGAIN_S = 5.0
"""Pause before a room that could not be told is tried again."""


class DatabaseWatch:
    """One notice per outage and room; edited when the database is back."""

    def __init__(self, chats: Mapping[Platform, Chat], rooms: Iterable[Room], clock: Clock) -> None:
        """Tell `rooms`, each chat once however many rooms share it."""
        self._chats = chats
        self._rooms = {(r.platform, r.chat, r.topic): r for r in rooms if r.platform in chats}
        self._clock = clock
        self._down_since_s: float | None = None
        self._next_s = 0.0
        self._told: dict[tuple[Platform, str, int | None], tuple[Room, str]] = {}
        """Rooms that know, with the message that told them (empty: nobody saw its id)."""

    async def down(self) -> None:
        """The database does not answer; call it as often as that is seen."""
        now_s = self._clock.monotonic()
        if self._down_since_s is None:
            self._down_since_s = now_s
            log.error("the database does not answer")
        due = now_s - self._down_since_s >= PATIENCE_S and now_s >= self._next_s
        left = [key for key in self._rooms if key not in self._told]
        if not due or not left:
            return
        self._next_s = now_s + AGAIN_S
        card = notice(Notice.DATABASE_DOWN, self._clock.now())
        await asyncio.gather(*(self._tell(key, card) for key in left))

    async def _tell(self, key: tuple[Platform, str, int | None], card: Card) -> None:
        room = self._rooms[key]
        result = await self._chats[room.platform].post(
            room, card, Shape(), nonce="", audible=card.audible
        )
        match result:
            case Sent(ref=ref, chat_id=chat_id):
                self._told[key] = (room.model_copy(update={"chat": chat_id or room.chat}), ref)
            case RateLimited() | Unreachable():
                pass
            case _:
                # Perhaps it was posted: never twice.
                self._told[key] = (room, "")
                log.error("a room could not be told that the database is down: %s", result)

    async def up(self) -> None:
        """The database answers; call it as often as that is seen."""
        now_s = self._clock.monotonic()
        if self._down_since_s is not None:
            log.warning("the database answers again")
            self._down_since_s, self._next_s = None, 0.0
        if not self._told or now_s < self._next_s:
            return
        self._next_s = now_s + AGAIN_S
        card = notice(Notice.DATABASE_BACK, self._clock.now())
        results = await asyncio.gather(
            *(self._correct(room, ref, card) for room, ref in self._told.values())
        )
        done = [key for key, ok in zip(tuple(self._told), results, strict=True) if ok]
        self._told = {key: told for key, told in self._told.items() if key not in done}
        if not self._told:
            self._next_s = 0.0

    async def _correct(self, room: Room, ref: str, card: Card) -> bool:
        """Edit a notice; whether nothing is left to do about it."""
        if not ref:
            return True
        result: Sent | Unchanged | Failure = await self._chats[room.platform].edit(
            room, ref, card, Shape(), ""
        )
        return not isinstance(result, RateLimited | Unreachable)
