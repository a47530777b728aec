"""Figures of an evaluation as lines of one table."""

from engine.evaluation.answers import Tally

WIDTH = 34
HEAD = (
    f"{'':{WIDTH}} {'cases':>5} {'answered':>8} {'accuracy':>8} {'abstained':>9}"
    f" {'verified':>8} {'false verified':>14}"
)


def row(name: str, tally: Tally) -> str:
    """One line: accuracy is over answered cases only, the other rates over judged ones."""
    return (
        f"{name:{WIDTH}} {len(tally.cases):>5} {len(tally.answered):>8}"
        f" {share(tally.accuracy):>8} {share(tally.abstention_rate):>9} {tally.verified:>8}"
        f" {tally.false_verified:>6} ({share(tally.false_verified_rate)})"
    )


def share(value: float | None) -> str:
    """A share in percent; nothing to count is no zero."""
    return "-" if value is None else f"{value:.0%}"
