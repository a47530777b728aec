"""A card as plain content: no markup of any chat, no escaping, nothing cut yet."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import AwareDatetime, Field

from engine.model.base import Frozen


class Word(Frozen):
    """Words of ours, or text from outside that every renderer must make inert."""

    kind: Literal["word"] = "word"
    text: str
    bold: bool = False


class Code(Frozen):
    """A machine string: a label value, an expression, a version."""

    kind: Literal["code"] = "code"
    text: str


class Moment(Frozen):
    """A point in time, shown in the reader's own time where the chat can."""

    kind: Literal["moment"] = "moment"
    at: AwareDatetime
    date: bool = False
    """Show the date as well as the time of day."""


class Link(Frozen):
    """A link built by us to a listed host."""

    kind: Literal["link"] = "link"
    label: str
    url: str
    optional: bool = False
    """Left out where its host is not listed, instead of being shown as text."""


class Mention(Frozen):
    """A person or group to call by name; built only from our table of people and configuration."""

    kind: Literal["mention"] = "mention"
    account: str
    """The id in the chat the card goes to."""
    name: str


Span = Annotated[Word | Code | Moment | Link | Mention, Field(discriminator="kind")]
Line = tuple[Span, ...]


class Text(Frozen):
    """Prose: one or more lines."""

    kind: Literal["text"] = "text"
    lines: tuple[Line, ...]


class Caveats(Frozen):
    """Warning lines; the sign is the renderer's."""

    kind: Literal["caveats"] = "caveats"
    lines: tuple[Line, ...]


class Quote(Frozen):
    """Evidence that may be folded away."""

    kind: Literal["quote"] = "quote"
    title: str
    lines: tuple[Line, ...]


Block = Annotated[Text | Caveats | Quote, Field(discriminator="kind")]


class Section(Frozen):
    """One part of a card: a heading and what stands under it."""

    name: str
    title: Line = ()
    blocks: tuple[Block, ...] = ()
    rank: int
    """Where it stands; lower is higher up."""
    keep: int = 0
    """How hard it is to drop when space is short; higher stays longer."""
    muted: bool = False
    """Small print: true, but not what the eye should land on first."""


class Tone(StrEnum):
    """What the first sign of the card says."""

    FIRING = "firing"
    FIX_RAN = "fix_ran"
    RESOLVED = "resolved"
    CLOSED = "closed"
    MERGED = "merged"
    NOTICE = "notice"
    ANSWER = "answer"
    """What somebody asked for; it carries no sign."""


class ButtonStyle(StrEnum):
    """How a button looks; primary only where the design allows it."""

    PLAIN = "plain"
    PRIMARY = "primary"
    DANGER = "danger"


class Button(Frozen):
    """Something a person can press; the token is random and looked up when pressed."""

    action: str
    label: str
    token: str = ""
    style: ButtonStyle = ButtonStyle.PLAIN
    more: bool = False
    """Stands under the menu or in the second row."""
    subject: str = ""
    """The incident it acts on, where a card speaks of several."""


class Card(Frozen):
    """One message of one incident, in one state."""

    tone: Tone
    heading: str
    """Severity, alert, service: at most 150 characters; empty in a thread."""
    lock_screen: str
    """The first 110 characters a phone shows: severity, service, cause or none, can it wait."""
    sections: tuple[Section, ...]
    buttons: tuple[Button, ...] = ()
    audible: bool = False
    """Whether posting it anew may ring; edits never do."""
    footer: Line = ()
    facts: Mapping[str, str] = {}
    """Machine-readable marks for tests and metadata: state, revision."""
