"""What PromQL computes with: samples, vectors, range vectors."""

from collections.abc import Iterable
from dataclasses import dataclass

from bot.drill.doubles.promql_series import NAME, ExecutionError, Labels, Point

Key = tuple[tuple[str, str], ...]
"""Labels as something to compare and to group by."""


@dataclass(frozen=True)
class Sample:
    """One element of an instant vector."""

    labels: Labels
    value: float


@dataclass(frozen=True)
class Window:
    """One element of a range vector."""

    labels: Labels
    points: list[Point]
    start: float
    end: float


Vector = list[Sample]
Value = float | str | Vector | list[Window]


def key_of(labels: Labels) -> Key:
    """Make labels comparable."""
    return tuple(sorted(labels.items()))


def unnamed(labels: Labels) -> Labels:
    """Drop the metric's name, as everything that computes does."""
    return {name: value for name, value in labels.items() if name != NAME}


def only(labels: Labels, names: Iterable[str]) -> Labels:
    """Keep the named labels, where they are set."""
    return {name: labels[name] for name in names if labels.get(name)}


def without(labels: Labels, names: Iterable[str]) -> Labels:
    """Drop the named labels and the metric's name."""
    dropped = {NAME, *names}
    return {name: value for name, value in labels.items() if name not in dropped}


def distinct(vector: Vector) -> Vector:
    """Refuse a vector that holds the same labels twice."""
    if len({key_of(sample.labels) for sample in vector}) < len(vector):
        raise ExecutionError("vector cannot contain metrics with the same labelset")
    return vector


def vector_of(value: Value) -> Vector:
    """Take a value for the instant vector the parser says it is."""
    if isinstance(value, list):
        return [each for each in value if isinstance(each, Sample)]
    raise ExecutionError("expected an instant vector")


def number_of(value: Value) -> float:
    """Take a value for the number the parser says it is."""
    if isinstance(value, float):
        return value
    raise ExecutionError("expected a scalar")
