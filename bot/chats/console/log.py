"""The log as a chat: the last resort of a card no room can be reached for."""

import logging
from datetime import datetime
from itertools import count

from bot.chats.chat import Blind, FindResult, Image, Refused, SendResult, Sent, Shape, Traits
from cards.card import Card
from cards.render import plain
from cards.render.limits import clean
from engine.model.org import Platform, Room

log = logging.getLogger("caveat.cards")


class LogChat:
    """Writes one line a card and one a change."""

    platform = Platform.CONSOLE
    traits = Traits(finds=False, silences=True)

    def __init__(self) -> None:
        """Count messages from one."""
        self._refs = count(1)

    def draw(self, card: Card, shape: Shape) -> str:
        """What would be written."""
        del shape
        return _line(card)

    async def post(
        self, room: Room, card: Card, shape: Shape, *, nonce: str, audible: bool
    ) -> SendResult:
        """Write a new card's line; loud, because no room shows it."""
        del shape, nonce
        level = logging.WARNING if audible else logging.INFO
        log.log(level, "%s: %s", room.id, _line(card))
        return Sent(ref=str(next(self._refs)))

    async def edit(self, room: Room, ref: str, card: Card, shape: Shape, nonce: str) -> SendResult:
        """Write how a card reads now."""
        del shape, nonce
        log.info("%s: %s", room.id, _line(card))
        return Sent(ref=ref)

    async def reply(
        self, room: Room, card_ref: str, card: Card, shape: Shape, *, nonce: str, audible: bool
    ) -> SendResult:
        """Leave out what stands under a card."""
        del room, card_ref, card, shape, nonce, audible
        return Sent(ref=str(next(self._refs)))

    async def picture(
        self, room: Room, card_ref: str, image: Image, *, nonce: str, ref: str | None
    ) -> SendResult:
        """Say that there are no pictures here."""
        del room, card_ref, image, nonce, ref
        return Refused(reason="no pictures here")

    async def find(
        self, room: Room, nonce: str, card_ref: str | None, since: datetime
    ) -> FindResult:
        """Say that what was written cannot be asked for."""
        del room, nonce, card_ref, since
        return Blind()


def _line(card: Card) -> str:
    """The heading and the lock screen's words, on one line."""
    return clean(f"{plain.headed(card)} — {card.lock_screen}")
