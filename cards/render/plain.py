"""A card as unmarked text: for the last rung of the delivery ladder, and to measure by."""

from datetime import datetime

from cards.card import (
    Block,
    Card,
    Caveats,
    Code,
    Line,
    Link,
    Mention,
    Moment,
    Section,
    Span,
    Tone,
    Word,
)
from cards.render.limits import clamp, cut

SIGN = {
    Tone.FIRING: "🔴",
    Tone.FIX_RAN: "🟠",
    Tone.RESOLVED: "🟢",
    Tone.CLOSED: "",
    Tone.MERGED: "",
    Tone.NOTICE: "⚠",
    Tone.ANSWER: "",
}


def headed(card: Card) -> str:
    """The heading with its sign."""
    return f"{SIGN[card.tone]} {card.heading}".strip() if card.heading else ""


def clock(at: datetime, *, date: bool) -> str:
    """A moment for surfaces that cannot show the reader's own time; the zone is named."""
    return f"{at:%d %b %H:%M} UTC" if date else f"{at:%H:%M} UTC"


def span(part: Span) -> str:
    """A span without markup."""
    match part:
        case Word(text=text) | Code(text=text):
            return text
        case Moment(at=at, date=date):
            return clock(at, date=date)
        case Link(label=label, url=url):
            return f"{label}: {url}"
        case Mention(name=name):
            return name


def line(parts: Line) -> str:
    """A line without markup."""
    return "".join(span(part) for part in parts)


def _block(block: Block) -> list[str]:
    sign = "⚠ " if isinstance(block, Caveats) else ""
    return [sign + line(parts) for parts in block.lines]


def section(part: Section) -> str:
    """A section without markup."""
    title = [line(part.title)] if part.title else []
    return "\n".join([*title, *(row for block in part.blocks for row in _block(block))])


FIRST_WORDS = 30
"""Sections up to this rank belong to what stands above them."""


def attached(section: Section, above: Section | None) -> bool:
    """Whether small print hangs on what stands above it, without a gap."""
    return section.muted and (above is None or above.muted or section.rank < FIRST_WORDS)


def text(card: Card, most: int = 3000) -> str:
    """The whole card without markup."""
    card = clamp(card)
    parts = [headed(card), *(section(s) for s in card.sections), line(card.footer)]
    return cut("\n".join(part for part in parts if part), most)
