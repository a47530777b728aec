"""What a chart of an incident shows: kept small, worded and drawn elsewhere."""

from typing import Annotated

from pydantic import AwareDatetime, Field

from engine.model.base import Frozen
from engine.model.pack import ChangeKind

MOST_LINES = 3
MOST_POINTS = 300
MOST_MARKS = 3

Point = Annotated[tuple[float, float], Field()]
"""Unix seconds, value; both finite."""


class Line(Frozen):
    """One series, thinned out."""

    label: str = ""
    """What tells it from the other lines; empty when it is alone."""
    points: tuple[Point, ...] = Field(min_length=2, max_length=MOST_POINTS)


class Curve(Frozen):
    """A metric around onset, the worst line first."""

    name: str = ""
    """Short name a person knows it by; empty when only its expression says what it is."""
    expression: str
    unit: str = ""
    own: bool = False
    """It is the alert's own expression."""
    lines: tuple[Line, ...] = Field(min_length=1, max_length=MOST_LINES)
    threshold: float | None = None
    """Where the alert fires, when it is known."""
    before: float | None = None
    """Median of the first line before onset."""


class Mark(Frozen):
    """Something that changed."""

    at: AwareDatetime
    change: ChangeKind
    component: str
    what: str


class Chart(Frozen):
    """A curve with what happened around it."""

    incident_id: str
    client_id: str
    rule: str
    service: str | None
    curve: Curve
    onset_at: AwareDatetime
    onset_seen: bool
    """Onset was read from data; otherwise it only repeats when the alert fired."""
    fired_at: AwareDatetime
    taken_at: AwareDatetime
    marks: tuple[Mark, ...] = Field((), max_length=MOST_MARKS)
    """Nearest to onset first."""
