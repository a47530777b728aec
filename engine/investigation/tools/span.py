"""The time a tool is asked about: never the future, never so much that a backend would choke."""

from datetime import UTC, datetime, timedelta
from typing import Annotated

from pydantic import AfterValidator, Field

from engine.investigation.tool import Bench, Refused
from engine.model.evidence import Window

LONGEST_S = 24 * 3600
OLDEST_S = 8 * 86_400
BEFORE_ONSET_S = 1800
LEAST_STEP_S = 15
MOST_POINTS = 120


def _utc(value: datetime) -> datetime:
    return value.astimezone(UTC) if value.tzinfo else value.replace(tzinfo=UTC)


Moment = Annotated[datetime, AfterValidator(_utc)]
START = Field(None, description="ISO 8601; without it half an hour before onset.")
END = Field(None, description="ISO 8601; without it now.")


def instant(at: datetime | None, bench: Bench) -> datetime | Refused:
    """Take one moment; now where none is given."""
    now = bench.reach.clock.now()
    moment = min(at or now, now)
    if (now - moment).total_seconds() > OLDEST_S:
        return Refused(why="further back than 8 days")
    return moment


def window(start: datetime | None, end: datetime | None, bench: Bench) -> Window | Refused:
    """Take a stretch of time; from half an hour before onset to now where none is given."""
    until = instant(end, bench)
    if isinstance(until, Refused):
        return until
    onset = bench.subject.pack.anchor.onset_at
    usual = min(onset, until) - timedelta(seconds=BEFORE_ONSET_S)
    since = start or max(usual, until - timedelta(seconds=LONGEST_S))
    length_s = (until - since).total_seconds()
    if length_s <= 0:
        return Refused(why="start is not before end")
    if length_s > LONGEST_S:
        return Refused(why="longer than 24 hours")
    step_s = max(LEAST_STEP_S, length_s / MOST_POINTS)
    return Window(start_at=since, end_at=until, step_s=float(round(step_s)))
