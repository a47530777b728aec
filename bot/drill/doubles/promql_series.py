"""Planted time series, and how they are found."""

import math
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from promql_parser import Matcher, MatchOp, VectorSelector

NAME = "__name__"
LOOKBACK_S = 300.0
"""How old a sample may be and still count as now."""
SCRAPE_S = 15.0
"""Distance of the samples of a series that is a function of time."""

Labels = Mapping[str, str]
Point = tuple[float, float]
"""Unix seconds and value."""
Signal = Callable[[float], float | None]
"""Value at a unix time; None where the series does not exist."""


class ExecutionError(Exception):
    """A query that parses and cannot be answered."""


@dataclass(frozen=True)
class Series:
    """One time series: points as they were scraped, or a function that is scraped on demand."""

    labels: Labels
    source: Signal | tuple[Point, ...]
    scraped: dict[int, float | None] = field(default_factory=dict, repr=False, compare=False)
    """Samples of a function by their tick: what was scraped once is not asked for again."""

    def between(self, start: float, end: float) -> list[Point]:
        """Give the samples from `start` to `end`, both included."""
        if isinstance(self.source, tuple):
            low = bisect_left(self.source, (start, -math.inf))
            return list(self.source[low : bisect_right(self.source, (end, math.inf))])
        first, last = math.ceil(start / SCRAPE_S), math.floor(end / SCRAPE_S)
        found = ((tick * SCRAPE_S, self._scrape(tick)) for tick in range(first, last + 1))
        return [(at, value) for at, value in found if value is not None]

    def _scrape(self, tick: int) -> float | None:
        if tick not in self.scraped:
            assert callable(self.source), "points are not scraped"
            self.scraped[tick] = self.source(tick * SCRAPE_S)
        return self.scraped[tick]

    def at(self, time: float) -> float | None:
        """Give the value now: the last sample, unless it is too old or the series has ended."""
        if not isinstance(self.source, tuple):
            return self._scrape(math.floor(time / SCRAPE_S))
        points = self.between(time - LOOKBACK_S, time)
        return points[-1][1] if points else None

    def lives(self, start: float, end: float) -> bool:
        """Whether it has a sample between `start` and `end`."""
        return self.at(end) is not None or bool(self.between(start, end))


class Store:
    """Every series there is."""

    def __init__(self) -> None:
        self.series: list[Series] = []
        self._chosen: dict[str, list[Series]] = {}
        """What selectors matched, by their text; a range query asks at every step."""

    def plant(self, name: str, labels: Labels, source: Signal | Iterable[Point] | float) -> None:
        """Add a series: a function of unix time, a list of points, or one value for ever."""
        named = {NAME: name, **labels}
        self._chosen.clear()
        if isinstance(source, int | float):
            value = float(source)
            self.series.append(Series(named, lambda _: value))
        elif callable(source):
            self.series.append(Series(named, source))
        else:
            self.series.append(Series(named, tuple(sorted(source))))

    def select(self, selector: VectorSelector) -> list[Series]:
        """Find what a selector matches."""
        key = str(selector)
        if key not in self._chosen:
            self._chosen[key] = list(self._matching(selector))
        return self._chosen[key]

    def _matching(self, selector: VectorSelector) -> Iterator[Series]:
        groups = [list(group) for group in selector.matchers.or_matchers] or [[]]
        always = list(selector.matchers.matchers)
        if selector.name is not None:
            always.append(Matcher(MatchOp.Equal, NAME, selector.name))
        for series in self.series:
            if any(matches(series.labels, [*always, *group]) for group in groups):
                yield series


def matches(labels: Labels, matchers: Iterable[Matcher]) -> bool:
    """Whether labels satisfy all matchers; a label that is missing is empty."""
    return all(_matches(labels.get(matcher.name, ""), matcher) for matcher in matchers)


def _matches(value: str, matcher: Matcher) -> bool:
    if matcher.op == MatchOp.Equal or matcher.op == MatchOp.NotEqual:  # noqa: PLR1714 - no hash
        return (value == matcher.value) is bool(matcher.op == MatchOp.Equal)
    found = re.fullmatch(f"(?:{matcher.value})", value, re.DOTALL) is not None
    return found is bool(matcher.op == MatchOp.Re)
