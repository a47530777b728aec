"""What the outbox asks of a chat, and the few ways a send can end."""

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from cards.card import Card
from cards.render.links import Allowed, nowhere
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


class Unreachable(Frozen):
    """The chat could not be reached at all; nothing was posted."""

    reason: str


class Absent(Frozen):
    """Looked for it: it is not there."""


class Blind(Frozen):
    """This chat cannot be asked what was posted."""

    reason: str = ""


Failure = Refused | RateLimited | Ambiguous | Unreachable | Gone | RoomBroken | TokenDead | Moved
SendResult = Sent | Unchanged | Failure
FindResult = Sent | Absent | Blind | Failure


@dataclass(frozen=True)
class Shape:
    """How a card is drawn: how rich, and which links may be links."""

    smaller: bool = False
    plain: bool = False
    links: Allowed = nowhere


class Image(Frozen):
    """A picture with what it shows in words."""

    png: bytes
    title: str
    alt: str


class Traits(Frozen):
    """What a platform can do that others cannot."""

    finds: bool
    """A message can be looked for by its nonce."""
    silences: bool
    """A new message can be posted without a sound."""
    pictures: bool = False
    """A picture can be posted below a card."""
    redraws: bool = False
    """A posted picture can be replaced by another."""


class Chat(Protocol):
    """One platform, outgoing."""

    @property
    def platform(self) -> Platform:
        """Which one."""

    @property
    def traits(self) -> Traits:
        """What it can do."""

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

    async def picture(
        self, room: Room, card_ref: str, image: Image, *, nonce: str, ref: str | None
    ) -> SendResult:
        """Post a picture below a card, silently if it can be; with `ref`, replace that one."""

    async def find(
        self, room: Room, nonce: str, card_ref: str | None, since: datetime
    ) -> FindResult:
        """Look for a message of ours by its nonce, in the room or below `card_ref`."""
