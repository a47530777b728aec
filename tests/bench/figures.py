"""Figures and the table they stand in."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Figure:
    """One thing that was measured."""

    what: str
    measured: str
    run: str
    """What was run for it."""
    bound: str = ""
    """What it has to keep, where there is a bound."""


@dataclass
class Section:
    """Figures that belong together."""

    title: str
    figures: list[Figure] = field(default_factory=list)

    def add(self, what: str, measured: str, run: str, bound: str = "") -> None:
        self.figures.append(Figure(what, measured, run, bound))

    def markdown(self) -> str:
        lines = [
            f"### {self.title}",
            "",
            "| what | measured | to keep | run |",
            "|---|---|---|---|",
        ]
        lines += [f"| {f.what} | {f.measured} | {f.bound} | {f.run} |" for f in self.figures]
        return "\n".join(lines)


def at(share: float, values: Sequence[float]) -> float:
    """The value that `share` of them do not exceed."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def ms(values: Sequence[float]) -> str:
    """Median and p99 of seconds, in milliseconds."""
    return f"p50 {at(0.5, values) * 1000:,.0f} ms, p99 {at(0.99, values) * 1000:,.0f} ms"
