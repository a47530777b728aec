"""The curve behind an alert, thinned to what a picture can show."""

import math
import re
from collections.abc import Mapping, Sequence

from engine.model.chart import MOST_LINES, MOST_POINTS, Curve, Line
from engine.model.evidence import Series
from engine.model.pack import MetricDigest
from engine.pack.digests import MOVED, order
from engine.pack.figures import unit_of
from engine.pack.section import Case
from engine.promql.threshold import threshold
from engine.series import Point

_METRIC = re.compile(r"([a-zA-Z_:][a-zA-Z0-9_:]*)\s*[\[{]")
_QUANTILE = re.compile(r"\s*histogram_quantile\s*\(\s*0?\.(\d{1,3})\s*,")
_CHANGES_UNIT = re.compile(r"\b(rate|irate|increase|deriv|delta|count|changes)\b|[/*^%]")
_LEAST_POINTS = 3
_END_S = 2.0**32
"""No moment of an incident lies behind it."""

Drawn = tuple[MetricDigest, Series]
"""A series with its numbers."""


def thinned(points: Sequence[Point], most: int = MOST_POINTS) -> tuple[Point, ...]:
    """Keep at most `most` points, of every stretch its lowest and its highest.

    What is no finite number is left out.
    """
    kept = [(at, value) for at, value in points if 0 <= at < _END_S and math.isfinite(value)]
    if len(kept) <= most:
        return tuple(kept)
    slots = most // 2
    thin: list[Point] = []
    for n in range(slots):
        slot = kept[len(kept) * n // slots : len(kept) * (n + 1) // slots]
        ends = {min(slot, key=lambda p: p[1]), max(slot, key=lambda p: p[1])}
        thin += sorted(ends)
    return tuple(thin)


def own_curve(found: Sequence[Drawn], case: Case) -> Curve | None:
    """Make a curve of the alert's own expression, over the series that fired."""
    expression = case.survey.own_expression or ""
    limit = threshold(case.anchor.expression) if case.anchor.expression else None
    given = {
        "name": quantile_name(expression),
        "unit": unit_of_expression(expression),
        "own": True,
        "threshold": limit.value if limit and math.isfinite(limit.value) else None,
    }
    return _curve(sorted(found, key=lambda one: order(one[0])), expression, case, given)


def moved_curve(found: Sequence[Drawn], case: Case) -> Curve | None:
    """Make a curve of the failing scope's metric that moved the most."""
    moved = [one for one in found if not one[0].peer and abs(one[0].deviation or 0) >= MOVED]
    if not moved:
        return None
    worst = max(moved, key=lambda one: abs(one[0].deviation or 0))[0]
    same = sorted((one for one in moved if one[0].query == worst.query), key=_by_deviation)
    given = {"name": worst.name, "unit": worst.unit, "threshold": worst.limit}
    return _curve(same, worst.query, case, given)


def _by_deviation(one: Drawn) -> float:
    return -abs(one[0].deviation or 0)


def _curve(
    found: Sequence[Drawn], expression: str, case: Case, given: Mapping[str, object]
) -> Curve | None:
    thin = [(digest, thinned(series.points)) for digest, series in found]
    shown = [one for one in thin if len(one[1]) >= _LEAST_POINTS][:MOST_LINES]
    if not shown:
        return None
    labels = _told_apart([digest for digest, _ in shown], case)
    lines = [
        Line(label=label, points=points) for label, (_, points) in zip(labels, shown, strict=True)
    ]
    before = shown[0][0].baseline
    return Curve.model_validate(
        {
            **given,
            "expression": case.ports.clean(" ".join(expression.split())),
            "lines": lines,
            "before": before if before is not None and math.isfinite(before) else None,
        }
    )


def _told_apart(digests: Sequence[MetricDigest], case: Case) -> list[str]:
    """Name each line by the labels whose values differ; one alone needs no name."""
    if len(digests) == 1:
        return [""]
    names = sorted({name for digest in digests for name in digest.labels})
    differing = [n for n in names if len({digest.labels.get(n) for digest in digests}) > 1]
    return [
        case.ports.clean(", ".join(f"{n}={d.labels[n]}" for n in differing if n in d.labels))
        for d in digests
    ]


def quantile_name(expression: str) -> str:
    """Call a quantile what people call it: `p99 of http_request_duration`."""
    found, metric = _QUANTILE.match(expression), _METRIC.search(expression)
    if found is None or metric is None:
        return ""
    digits = found.group(1)
    share = digits if len(digits) == 2 else digits[:2].ljust(2, "0") + digits[2:]  # noqa: PLR2004 - p99, p999, p50
    return f"p{share} of {re.sub(r'(_seconds)?_bucket$', '', metric.group(1))}"


def unit_of_expression(expression: str) -> str:
    """Read a unit off an expression, where it is certain."""
    names = set(_METRIC.findall(expression))
    if not names:
        return unit_of(expression) if re.fullmatch(r"[\w:]+", expression) else ""
    if quantile_name(expression):
        return unit_of(min(names))
    operators = re.sub(r"\{[^}]*\}", "", expression)
    if "/" in operators and "*" not in operators:
        return _unit_of_division(names)
    as_it_is = _CHANGES_UNIT.search(operators) is None
    return unit_of(names.pop()) if as_it_is and len(names) == 1 else ""


def _unit_of_division(names: set[str]) -> str:
    """Tell a mean (`_sum` by `_count`) from a share of like counters; else nothing is certain."""
    if any(n.endswith("_sum") for n in names) and any(n.endswith("_count") for n in names):
        return unit_of(min(names))
    return (
        "ratio" if len(names) == 1 and all(n.endswith(("_total", "_count")) for n in names) else ""
    )
