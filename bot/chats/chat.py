"""What the outbox asks of a chat, and the few ways a send can end."""

from typing import Protocol

from cards.card import Card
from engine.model.base import Frozen
from engine.model.org import Platform, Room


class Sent(Frozen):
    """The chat took it."""

    ref: str
    """The chat's own id of the message."""
    chat_id: str | None = None
    """The chat's own id of the room, when it was asked for by name."""


class Unchanged(Frozen):
    """The message reads like this already."""


class Refused(Frozen):
    """The content was refused and would be refused again: our fault."""

    reason: str


class RateLimited(Frozen):
    """Too fast for this room; nothing was posted."""

    wait_s: float


class Ambiguous(Frozen):
    """Nobody knows whether it was posted: no answer, or an answer that says nothing."""

    reason: str


class Gone(Frozen):
    """The message to edit or reply to is not there any more."""

    reason: str


class RoomBroken(Frozen):
    """Nothing can be posted in this room until a person mends it."""

    reason: str


class TokenDead(Frozen):
    """Nothing can be posted anywhere on this platform until a person mends it."""

    reason: str


class Moved(Frozen):
    """The room has another id now; nothing was posted."""

    chat_id: str


SendResult = (
    Sent | Unchanged | Refused | RateLimited | Ambiguous | Gone | RoomBroken | TokenDead | Moved
)


class Shape(Frozen):
    """How rich a card is drawn; the ladder goes down when a chat refuses."""

    smaller: bool = False
    plain: bool = False


class Chat(Protocol):
    """One platform, outgoing."""

    @property
    def platform(self) -> Platform:
        """Which one."""

    def draw(self, card: Card, shape: Shape) -> str:
        """What would be sent, as text; its hash tells whether an edit is needed."""

    async def post(
        self, room: Room, card: Card, shape: Shape, *, nonce: str, audible: bool
    ) -> SendResult:
        """Post a new message that carries `nonce`."""

    async def edit(self, room: Room, ref: str, card: Card, shape: Shape, nonce: str) -> SendResult:
        """Replace what a message says."""

    async def reply(
        self, room: Room, card_ref: str, card: Card, shape: Shape, *, nonce: str, audible: bool
    ) -> SendResult:
        """Post below a card: its thread, or a reply to it."""

    async def find(self, room: Room, nonce: str, card_ref: str | None) -> str | None:
        """Look for a message of ours by its nonce; None when it is not there or cannot be asked."""
