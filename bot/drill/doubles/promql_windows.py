"""Functions over a range vector.

Source: the formulas are Prometheus's own, extrapolation to the window's edges included.
"""

import math
import statistics
from collections.abc import Callable, Mapping
from itertools import pairwise

from bot.drill.doubles.promql_values import Window

OverWindow = Callable[[Window], float | None]
EDGE = 1.1
"""A gap at the window's edge up to so many sample distances is taken for part of the series."""


def quantile(q: float, values: list[float]) -> float:
    """Interpolate the q-quantile of values in any order."""
    if not values or math.isnan(q):
        return math.nan
    if q < 0 or q > 1:
        return math.copysign(math.inf, q - 0.5)
    ordered, rank = sorted(values), q * (len(values) - 1)
    low, weight = math.floor(rank), rank % 1
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] * (1 - weight) + ordered[high] * weight


def _extrapolated(window: Window, *, counter: bool) -> float | None:
    """Compute the change over the whole window from the samples inside it."""
    points = window.points
    if len(points) <= 1:
        return None
    change = points[-1][1] - points[0][1]
    if counter:
        change += sum(before for (_, before), (_, after) in pairwise(points) if after < before)
    sampled = points[-1][0] - points[0][0]
    distance = sampled / (len(points) - 1)
    to_start, to_end = points[0][0] - window.start, window.end - points[-1][0]
    if counter and change > 0 and points[0][1] >= 0:
        to_start = min(to_start, sampled * points[0][1] / change)
    reached = sampled
    for gap in (to_start, to_end):
        reached += gap if gap < distance * EDGE else distance / 2
    return change * reached / sampled


def _increase(window: Window) -> float | None:
    return _extrapolated(window, counter=True)


def _rate(window: Window) -> float | None:
    change = _extrapolated(window, counter=True)
    return None if change is None else change / (window.end - window.start)


def _delta(window: Window) -> float | None:
    return _extrapolated(window, counter=False)


def _irate(window: Window) -> float | None:
    if len(window.points) <= 1:
        return None
    (before_at, before), (at, value) = window.points[-2:]
    return (value if value < before else value - before) / (at - before_at)


def _idelta(window: Window) -> float | None:
    return window.points[-1][1] - window.points[-2][1] if len(window.points) > 1 else None


def slope(window: Window, at: float) -> tuple[float, float] | None:
    """Fit a line: its slope per second and its value at `at`."""
    if len(window.points) <= 1:
        return None
    times, values = [time - at for time, _ in window.points], values_of(window)
    line = statistics.linear_regression(times, values)
    return line.slope, line.intercept


def _deriv(window: Window) -> float | None:
    line = slope(window, window.points[0][0]) if window.points else None
    return line[0] if line else None


def values_of(window: Window) -> list[float]:
    """Give the values without their times."""
    return [value for _, value in window.points]


def _over(reduce: Callable[[list[float]], float]) -> OverWindow:
    """Make a function of the values of a window that is not empty."""
    return lambda window: reduce(values_of(window)) if window.points else None


def _changes(window: Window) -> float | None:
    pairs = pairwise(values_of(window))
    return float(sum(after != before for before, after in pairs)) if window.points else None


def _resets(window: Window) -> float | None:
    pairs = pairwise(values_of(window))
    return float(sum(after < before for before, after in pairs)) if window.points else None


OVER_WINDOW: Mapping[str, OverWindow] = {
    "rate": _rate,
    "increase": _increase,
    "delta": _delta,
    "irate": _irate,
    "idelta": _idelta,
    "deriv": _deriv,
    "changes": _changes,
    "resets": _resets,
    "avg_over_time": _over(statistics.fmean),
    "min_over_time": _over(min),
    "max_over_time": _over(max),
    "sum_over_time": _over(math.fsum),
    "count_over_time": _over(lambda values: float(len(values))),
    "last_over_time": _over(lambda values: values[-1]),
    "present_over_time": _over(lambda _: 1.0),
    "stddev_over_time": _over(statistics.pstdev),
    "stdvar_over_time": _over(statistics.pvariance),
}
KEEPS_NAME = {"last_over_time"}
