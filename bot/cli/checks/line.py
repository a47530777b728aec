"""One line of `caveat check`."""

from enum import StrEnum

from engine.model.base import Frozen


class Mark(StrEnum):
    """Whether a part works."""

    OK = "✔"
    BAD = "✘"
    ABSENT = "○"
    """Not set up; a choice, and it costs something."""


class Line(Frozen):
    """What is known of one part, and what to do."""

    part: str
    mark: Mark
    said: str
    cure: str = ""
    """The one thing to do."""
    costs: str = ""
    """What is missing from cards without it."""


def ok(part: str, said: str) -> Line:
    """It works."""
    return Line(part=part, mark=Mark.OK, said=said)


def bad(part: str, said: str, cure: str, costs: str = "") -> Line:
    """It is set up and does not work."""
    return Line(part=part, mark=Mark.BAD, said=said, cure=cure, costs=costs)


def absent(part: str, said: str, cure: str, costs: str) -> Line:
    """It is not set up."""
    return Line(part=part, mark=Mark.ABSENT, said=said, cure=cure, costs=costs)
