"""What an alert's expression measures, and from where on it alerts."""

import json
from pathlib import Path

import pytest

from engine.promql.check import Verdict, check
from engine.promql.threshold import Threshold, comparison_stripped, threshold


@pytest.mark.parametrize(
    ("expr", "series", "op", "value"),
    [
        ("rate(x[5m]) > 0.1", "rate(x[5m])", ">", 0.1),
        ("0.1 < rate(x[5m])", "rate(x[5m])", ">", 0.1),
        ("5 < x < 10", "x", ">", 5.0),
        ("up == 0", "up", "==", 0.0),
        ("x != bool 1", "x", "!=", 1.0),
        ("a / b * 100 >= 90 and c > 0", "a / b * 100 and c", ">=", 90.0),
        ("(a > 1) and on (x) (b < 2)", "(a) and on (x) (b)", ">", 1.0),
        ("a > 1 unless on (x) b > 5", "a unless on (x) b > 5", ">", 1.0),
        ("a > 1 or b == 2", "a or b", ">", 1.0),
        ("1 > x", "x", "<", 1.0),
        ("1 >= x", "x", "<=", 1.0),
        ("1 <= x", "x", ">=", 1.0),
        ("1 == x", "x", "==", 1.0),
        ("x > 1 + 2", "x", ">", 3.0),
        ("x > (7 - 4)", "x", ">", 3.0),
        ("x > 7 % 4", "x", ">", 3.0),
        ("x > 7 / 2", "x", ">", 3.5),
        ("x > 1 > bool 2", "x", ">", 1.0),
        ("a unless b > 1 and c > 2", "a unless b > 1 and c", ">", 2.0),
        ("(a > 1)", "(a)", ">", 1.0),
        ("(a > 1) or (b)", "(a) or (b)", ">", 1.0),
        ("x > -24 * 3600", "x", ">", -86400.0),
        ("time() - x > 5m # late", "time() - x # late", ">", 300.0),
        ("a > b > 5", "a > b", ">", 5.0),
        ("(a and b) > 5", "(a and b)", ">", 5.0),
        ('x{a="> 1"} <= 2 ^ 3', 'x{a="> 1"}', "<=", 8.0),
        ("x # why\n> 3\nand y", "x # why\n\nand y", ">", 3.0),
    ],
)
def test_the_series_stay_as_they_were_written(
    expr: str, series: str, op: str, value: float
) -> None:
    assert comparison_stripped(expr) == series
    assert threshold(expr) == Threshold(op=op, value=value)


@pytest.mark.parametrize(
    "expr",
    [
        "absent(up)",
        "a > b",
        "a == on (x) group_left () b",
        "1 > bool 2",
        "x > ",
        "a unless b > 5",
        "max(x > 5)",
    ],
)
def test_without_a_constant_at_the_top_there_is_nothing_to_strip(expr: str) -> None:
    assert comparison_stripped(expr) is None
    assert threshold(expr) is None


def test_a_constant_that_is_no_number_has_no_value() -> None:
    assert comparison_stripped("x > 1 / 0") == "x"
    assert threshold("x > 1 / 0") is None


@pytest.mark.corpus
def test_most_alerts_of_the_field_have_a_threshold(shared: Path) -> None:
    stripped = total = 0
    for name in ("rules_mixins", "rules_awesome"):
        with (shared / "data/promql" / f"{name}.jsonl").open(encoding="utf-8") as lines:
            alerts = [r["expr"] for r in map(json.loads, lines) if r["kind"] == "alert"]
        series = [comparison_stripped(expr) for expr in alerts]
        assert all(check(s).verdict is Verdict.VALID for s in series if s)
        stripped, total = stripped + sum(s is not None for s in series), total + len(alerts)
    assert stripped / total > 0.9
