"""A map from what a model says of itself to how often that held; and how good such numbers are."""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from itertools import groupby, pairwise
from operator import itemgetter

from engine.confidence import Calibration, uncalibrated
from engine.model.base import Frozen
from engine.model.review import Label
from engine.ports import Store

LEAST_LABELS = 50
"""Findings of a model with a known outcome before a map is fitted."""
BINS = 10


class Knot(Frozen):
    """Numbers that come to the same: from the least to the greatest of them, and what held."""

    least: float
    most: float
    share: float
    weight: int


class Quality(Frozen):
    """How good numbers are at saying what will hold."""

    labels: int
    held: float | None = None
    """Share that held; None without labels, as the others are."""
    brier: float | None = None
    """Mean squared distance from what came out: 0 is perfect, 0.25 is a coin."""
    ece: float | None = None
    """Expected calibration error: mean distance of a bin's number from its share that held."""


async def calibration_of(store: Store, model: str) -> Calibration:
    """The map of a model, from every verdict given so far."""
    async with store.begin() as tx:
        return calibration(await tx.outcomes.labels(model))


def calibration(labels: Sequence[Label], least: int = LEAST_LABELS) -> Calibration:
    """Fit the map; every number is its own value until there are labels enough."""
    if len(labels) < least:
        return uncalibrated
    knots = pooled((label.said, label.held) for label in labels)
    return lambda value: interpolated(knots, value)


def pooled(pairs: Iterable[tuple[float, bool]]) -> tuple[Knot, ...]:
    """Fit the nearest shares that never fall while the number rises.

    Pool-adjacent-violators: neighbours out of order are merged into their mean.

    Source: Ayer et al., An empirical distribution function for sampling with incomplete
    information, 1955.
    """
    knots: list[Knot] = []
    for value, same in groupby(sorted(pairs), key=itemgetter(0)):
        held = [one for _, one in same]
        share = sum(held) / len(held)
        knots.append(Knot(least=value, most=value, share=share, weight=len(held)))
        while len(knots) > 1 and knots[-2].share >= knots[-1].share:
            knots[-2:] = [_merged(*knots[-2:])]
    return tuple(knots)


def _merged(lower: Knot, upper: Knot) -> Knot:
    weight = lower.weight + upper.weight
    held = lower.share * lower.weight + upper.share * upper.weight
    return Knot(least=lower.least, most=upper.most, share=held / weight, weight=weight)


def interpolated(knots: Sequence[Knot], value: float) -> float:
    """Read a map at a number: flat inside a knot and beyond the last, straight between two."""
    if not knots:
        return value
    place = bisect_left([knot.most for knot in knots], value)
    if place == len(knots):
        return knots[-1].share
    upper = knots[place]
    if value >= upper.least or place == 0:
        return upper.share
    lower = knots[place - 1]
    part = (value - lower.most) / (upper.least - lower.most)
    return lower.share + part * (upper.share - lower.share)


def quality(pairs: Sequence[tuple[float, bool]], bins: int = BINS) -> Quality:
    """Measure numbers against what came out."""
    if not pairs:
        return Quality(labels=0)
    count = len(pairs)
    return Quality(
        labels=count,
        held=sum(held for _, held in pairs) / count,
        brier=sum((value - held) ** 2 for value, held in pairs) / count,
        ece=sum(_distance(some) for some in _binned(pairs, bins)) / count,
    )


def _binned(
    pairs: Sequence[tuple[float, bool]], bins: int
) -> Iterable[Sequence[tuple[float, bool]]]:
    edges = [number / bins for number in range(bins + 1)]
    for number, (low, high) in enumerate(pairwise(edges)):
        inside = [
            pair for pair in pairs if low < pair[0] <= high or (not number and pair[0] <= low)
        ]
        if inside:
            yield inside


def _distance(inside: Sequence[tuple[float, bool]]) -> float:
    """Distance of the mean number from the share that held, times how many there are."""
    return abs(sum(value for value, _ in inside) - sum(held for _, held in inside))
