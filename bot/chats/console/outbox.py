"""The terminal as a chat: a card when it is new and whenever it changed, replies folded."""

from datetime import datetime
from itertools import count

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from bot.chats.chat import Blind, FindResult, Image, Refused, SendResult, Sent, Shape, Traits
from cards.card import Card
from cards.life import State
from cards.render import plain, terminal
from cards.render.limits import clamp, cut
from engine.model.org import Platform, Room

MOST_LINES = 4
"""Lines of a reply that are printed; the rest is counted."""
MOST_WIDTH = 160


class ConsoleChat:
    """Prints into a console it is handed."""

    platform = Platform.CONSOLE
    traits = Traits(finds=False, silences=True)

    def __init__(self, console: Console) -> None:
        """Print into `console`."""
        self._console = console
        self._refs = count(1)
        self._shown: dict[str, Card] = {}
        """Cards as they were printed last."""

    def draw(self, card: Card, shape: Shape) -> str:
        """What would be printed, as text."""
        return terminal.text(card, shape.links)

    async def post(
        self, room: Room, card: Card, shape: Shape, *, nonce: str, audible: bool
    ) -> SendResult:
        """Print a card."""
        del room, nonce, audible
        return self._print(card, shape, str(next(self._refs)))

    async def edit(self, room: Room, ref: str, card: Card, shape: Shape, nonce: str) -> SendResult:
        """Print a card again, or only its news while it is being investigated.

        A reply that changed is not worth a second look.
        """
        del room, nonce
        if not card.heading:
            return Sent(ref=ref)
        if ref in self._shown and card.facts.get("state") == State.INVESTIGATING:
            self._console.print(news(self._shown[ref], card))
            self._shown[ref] = card
            return Sent(ref=ref)
        return self._print(card, shape, ref)

    async def reply(
        self, room: Room, card_ref: str, card: Card, shape: Shape, *, nonce: str, audible: bool
    ) -> SendResult:
        """Print the first lines of what stands under a card."""
        del room, card_ref, shape, nonce, audible
        self._console.print(Padding(folded(card), (0, 0, 0, 2)))
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
        """Say that what was printed cannot be asked for."""
        del room, nonce, card_ref, since
        return Blind()

    def _print(self, card: Card, shape: Shape, ref: str) -> SendResult:
        self._console.print(terminal.render(card, shape.links))
        self._shown[ref] = card
        return Sent(ref=ref)


def news(before: Card, now: Card) -> Text:
    """The lines a card has now and had not before."""
    known = set(_lines(before))
    fresh = [cut(line, MOST_WIDTH) for line in _lines(now) if line not in known]
    return Text("\n".join(f"  {line}" for line in fresh[:MOST_LINES]), overflow="fold")


def _lines(card: Card) -> list[str]:
    parts = clamp(card).sections
    return [row for s in parts for row in plain.section(s).splitlines() if row.strip()]


def folded(card: Card) -> Text:
    """The first lines of a reply; never rich markup."""
    lines = _lines(card)
    made = Text("↳ ", style="dim", overflow="fold")
    shown = [cut(line, MOST_WIDTH) for line in lines[:MOST_LINES]]
    made.append("\n  ".join(shown))
    if len(lines) > MOST_LINES:
        made.append(f"\n  … {len(lines) - MOST_LINES} more lines", style="italic")
    return made
