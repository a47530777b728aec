"""The terminal as a chat: a card when it is new and whenever it changed, replies folded."""

from datetime import datetime
from itertools import count

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from bot.chats.chat import Blind, FindResult, SendResult, Sent, Shape, Traits
from cards.card import Card
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
        """Print a card again; a reply that changed is not worth a second look."""
        del room, nonce
        return self._print(card, shape, ref) if card.heading else Sent(ref=ref)

    async def reply(
        self, room: Room, card_ref: str, card: Card, shape: Shape, *, nonce: str, audible: bool
    ) -> SendResult:
        """Print the first lines of what stands under a card."""
        del room, card_ref, shape, nonce, audible
        self._console.print(Padding(folded(card), (0, 0, 0, 2)))
        return Sent(ref=str(next(self._refs)))

    async def find(
        self, room: Room, nonce: str, card_ref: str | None, since: datetime
    ) -> FindResult:
        """Say that what was printed cannot be asked for."""
        del room, nonce, card_ref, since
        return Blind()

    def _print(self, card: Card, shape: Shape, ref: str) -> SendResult:
        self._console.print(terminal.render(card, shape.links))
        return Sent(ref=ref)


def folded(card: Card) -> Text:
    """The first lines of a reply; never rich markup."""
    card = clamp(card)
    lines = [row for s in card.sections for row in plain.section(s).splitlines() if row.strip()]
    made = Text("↳ ", style="dim", overflow="fold")
    shown = [cut(line, MOST_WIDTH) for line in lines[:MOST_LINES]]
    made.append("\n  ".join(shown))
    if len(lines) > MOST_LINES:
        made.append(f"\n  … {len(lines) - MOST_LINES} more lines", style="italic")
    return made
