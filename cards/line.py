"""Lines of a card, put together from words, codes and moments."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from cards.card import Code, Line, Moment, Span, Text, Word

FAR = timedelta(hours=18)


def say(*parts: str | Span) -> Line:
    """Make a line; plain strings are words."""
    return tuple(Word(text=part) if isinstance(part, str) else part for part in parts)


def bold(text: str) -> Word:
    """Words that a reader must not miss."""
    return Word(text=text, bold=True)


def code(text: str) -> Code:
    """A machine string."""
    return Code(text=text)


def moment(at: datetime, now: datetime) -> Moment:
    """A time of day, with its date when it is not around now."""
    return Moment(at=at.astimezone(UTC), date=abs(now - at) > FAR)


def joined(parts: Iterable[Line], mark: str = " · ") -> Line:
    """Set several short lines on one, a mark between them."""
    line: Line = ()
    for part in parts:
        if part:
            line = (*line, Word(text=mark), *part) if line else part
    return line


def text(*lines: Line) -> Text:
    """Prose of the lines that say something."""
    return Text(lines=tuple(line for line in lines if line))
