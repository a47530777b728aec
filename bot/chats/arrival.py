"""Something one account did in one chat, and what it is answered with."""

from cards.card import Card, Line
from cards.forms import Form
from engine.model.base import Frozen
from engine.model.desk import Membership
from engine.model.org import Identity, Role


class Arrival(Frozen):
    """Something one account did in one chat."""

    key: str
    """The chat's own name of this delivery; a repeat has the same."""
    identity: Identity
    name: str
    """What the chat shows for the account."""
    membership: Membership
    """As the chat said a moment ago."""
    chat: str
    """The chat's own id of the room."""
    topic: int | None = None
    private: bool = False
    """It was said to the bot alone."""
    administers: bool = False
    """The account runs the room, as far as the chat knows such a thing."""
    anonymous: bool = False
    """It speaks for the room and shows no account of its own."""
    timezone: str | None = None
    """IANA name, where the chat tells it."""
    roles: tuple[Role, ...] = ()
    """Roles a group of the chat stands for."""
    message_ref: str | None = None
    """The chat's own id of what was said, so that an answer can stand below it."""


class Told(Frozen):
    """One sentence, for this account alone."""

    line: Line
    refused: bool = False
    """Nothing was done; the account should not miss that."""


class Shown(Frozen):
    """A record, for this account alone."""

    card: Card


class Asked(Frozen):
    """More has to be known first; handed in under the prompt's id."""

    prompt_id: str
    form: Form


Reply = Told | Shown | Asked
