"""A series in a few numbers: what it was before onset, what it is since, and how far apart."""

from collections.abc import Sequence
from statistics import fmean, median

from engine.model.base import Frozen
from engine.model.evidence import Series

Point = tuple[float, float]
"""Unix seconds, value."""

_LEVELS = "▁▂▃▄▅▆▇█"
SPARKLINE_WIDTH = 24
_MAD_TO_SIGMA = 1.4826
_CENTRE_SHARE = 0.05
"""Least spread as a share of the centre: under it nobody would speak of a change."""
_RANGE_SHARE = 0.02
"""Least spread as a share of the largest value, so that a baseline of zero stays measurable."""


class Baseline(Frozen):
    """What is normal: a median and a robust spread that is never nothing."""

    centre: float
    spread: float

    def deviation(self, value: float) -> float:
        """Distance of a value from normal, in spreads; the sign says which way."""
        return (value - self.centre) / self.spread


class Summary(Frozen):
    """The numbers of one series."""

    minimum: float
    mean: float
    maximum: float
    last: float
    baseline: float | None
    deviation: float | None
    sparkline: str


def baseline(normal: Sequence[float], seen: Sequence[float]) -> Baseline:
    """Measure what is normal; `seen` is everything that will be compared with it."""
    centre = median(normal)
    mad = median(abs(value - centre) for value in normal)
    largest = max((abs(value) for value in (*normal, *seen)), default=0.0)
    spread = max(_MAD_TO_SIGMA * mad, _CENTRE_SHARE * abs(centre), _RANGE_SHARE * largest)
    return Baseline(centre=centre, spread=spread or 1.0)


def summarise(series: Series, onset_s: float, baseline_s: float) -> Summary:
    """Put a series into numbers: normal is the `baseline_s` before onset, unix seconds."""
    values = [value for _, value in series.points]
    before = [v for at, v in series.points if onset_s - baseline_s <= at < onset_s]
    after = [v for at, v in series.points if at >= onset_s]
    normal = baseline(before, values) if before else None
    return Summary(
        minimum=min(values),
        mean=fmean(values),
        maximum=max(values),
        last=values[-1],
        baseline=normal.centre if normal else None,
        deviation=normal.deviation(median(after)) if normal and after else None,
        sparkline=sparkline(values),
    )


def sparkline(values: Sequence[float], width: int = SPARKLINE_WIDTH) -> str:
    """Draw values in eight levels, oldest first; a longer series shows the largest of each slot."""
    count = min(width, len(values))
    slots = [
        max(values[len(values) * n // count : len(values) * (n + 1) // count]) for n in range(count)
    ]
    low, high = min(slots), max(slots)
    if high == low:
        return _LEVELS[0] * count
    top = len(_LEVELS) - 1
    return "".join(_LEVELS[round((value - low) / (high - low) * top)] for value in slots)
