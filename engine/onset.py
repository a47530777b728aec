"""When it began: the first sustained departure of a series from what it was before."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from engine.model.pack import OnsetSource
from engine.series import Point, baseline

_DEPARTED = 4.0
"""Spreads away from normal that count as departed."""
_LEAST_NORMAL = 6
"""Points needed to know what is normal."""
_SUSTAINED = 3
"""Departed points needed at the end of the series to speak of a change."""
_SHARE = 0.8
"""Share of the points since the departure that must stay departed."""


class Onset(NamedTuple):
    """When the symptom began and how that is known."""

    at: datetime
    source: OnsetSource


def change_point(points: Sequence[Point], until_s: float) -> float | None:
    """Find when a series left its normal for good, in unix seconds.

    Normal is the first half of the points before `until_s`, a time when the change is known to
    have happened. None when the series is flat, too noisy, too short or came back.
    """
    known = [point for point in points if point[0] < until_s]
    first = len(known) // 2
    if first < _LEAST_NORMAL:
        return None
    normal = baseline([v for _, v in known[:first]], [v for _, v in points])
    away = [normal.deviation(value) for _, value in points]
    candidates = (_first_departure(away, first, sign) for sign in (1, -1))
    found = [index for index in candidates if index is not None]
    return points[min(found)][0] if found else None


def _first_departure(away: Sequence[float], first: int, sign: int) -> int | None:
    """Give the earliest index from which on nearly every point is far off to one side."""
    departed, best = 0, None
    for index in range(len(away) - 1, first - 1, -1):
        out = sign * away[index] > _DEPARTED
        departed += out
        length = len(away) - index
        if out and departed >= _SUSTAINED and departed >= _SHARE * length:
            best = index
    return best


def onset(points: Sequence[Point], *, active_at: datetime | None, fired_at: datetime) -> Onset:
    """Say when the symptom began: the change point, else when the rule turned true, else firing.

    Never after `fired_at`: a change after it is not what the alert is about.
    """
    known_at = min(active_at or fired_at, fired_at)
    changed = change_point(points, known_at.timestamp())
    if changed is not None and changed <= fired_at.timestamp():
        return Onset(datetime.fromtimestamp(changed, UTC), OnsetSource.CHANGE_POINT)
    if active_at is not None:
        return Onset(known_at, OnsetSource.ACTIVE)
    return Onset(fired_at, OnsetSource.FIRED)
