"""A repair may rearrange the syntax and change nothing that is asked."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.promql.policy import FOR_MODELS
from engine.promql.repair import Repair, judge_repair, same_meaning


@pytest.mark.proves("S0-46", "S0-47")
@pytest.mark.parametrize(
    ("original", "replacement"),
    [
        # a closing bracket
        ("sum(rate(x[5m])", "sum(rate(x[5m]))"),
        ("sum(rate(x[5m]", "sum(rate(x[5m]))"),
        ("sum(rate(x[5m)) by (a)", "sum(rate(x[5m])) by (a)"),
        ('rate(x{a="b"[5m])', 'rate(x{a="b"}[5m])'),
        ("sum by (job (rate(x[5m]))", "sum by (job) (rate(x[5m]))"),
        ("a / b)", "a / b"),
        # a clause moved within its aggregation
        ("sum(rate(x[5m]) by (job))", "sum by (job) (rate(x[5m]))"),
        ("sum(rate(x[5m]) by (job)", "sum(rate(x[5m])) by (job)"),
        ("sum(x) by (a))", "sum by (a) (x)"),
        ("SUM(x) BY (a))", "sum by (a) (x)"),
        # one sum around the operand of an orphaned clause
        ("rate(x[5m]) by (job)", "sum(rate(x[5m])) by (job)"),
        ("rate(x[5m]) by (job)", "sum by (job) (rate(x[5m]))"),
        ("(a / b) without (x)", "sum without (x) (a / b)"),
        ("rate(a[5m]) / rate(b[5m]) by (job)", "rate(a[5m]) / sum by (job) (rate(b[5m]))"),
        (
            "histogram_quantile(0.9, rate(x_bucket[5m]) by (le))",
            "histogram_quantile(0.9, sum by (le) (rate(x_bucket[5m])))",
        ),
        # the order of matchers, and another quote
        ('x{b="1",a=~"2"', 'x{a=~"2",b="1"}'),
        ("x{a='b'", 'x{a="b"}'),
    ],
)
def test_a_rearrangement_is_taken(original: str, replacement: str) -> None:
    assert judge_repair(original, replacement) is Repair.REPAIRED


@pytest.mark.proves("S0-46", "S0-47")
@pytest.mark.parametrize(
    ("original", "replacement"),
    [
        ("sum(rate(x[5m])", "sum(rate(y[5m]))"),
        ('x{a="b"', 'x{a="c"}'),
        ('x{a="b"', 'x{a=~"b"}'),
        ('x{a="b"', 'x{c="b"}'),
        ('x{a="b"', 'x{a="b",c="d"}'),
        ('x{a="b",c="d"', 'x{a="b"}'),
        ("rate(x[5m]", "irate(x[5m])"),
        ("sum(x", "avg(x)"),
        ("x > 1)", "x > 2"),
        ("x > 1)", "x < 1"),
        ("x > 1)", "x >= 1"),
        ("x > bool 1)", "x > 1"),
        ("a and b)", "a or b"),
        ("x offset 5m)", "x offset 10m"),
        ("x offset 5m)", "x"),
        ("x @ 5)", "x @ 6"),
        ("x @ -1234)", "x @ 0"),
        ("sum(rate(x[5m])", "sum(rate(x[10m]))"),
        ("max_over_time(x[5m:1m]", "max_over_time(x[5m])"),
        ("max_over_time(x[5m:]", "max_over_time(x[5m])"),
        ("a / b)", "b / a"),
        ("a * on(x) b)", "a * on(y) b"),
        ("a * on(x) b)", "a * ignoring(x) b"),
        ("a * on(x) group_left(y) b)", "a * on(x) group_left(z) b"),
        ("sum(x) by (a", "sum(x) by (b)"),
        ("sum(x) by (a", "sum(x) without (a)"),
        ("sum(x) by (a", "sum(x)"),
        ("x)", "sum(x)"),
        ("-x)", "x"),
        ("a + b * c)", "(a + b) * c"),
        ("sum(rate(x[5m])) / sum(rate(y[5m])", "sum(rate(x[5m]) / sum(rate(y[5m])))"),
        # a wrapper that is no sum, two of them, an owner that moved, another operand
        ("rate(x[5m]) by (job)", "avg by (job) (rate(x[5m]))"),
        ("rate(x[5m]) by (job)", "count(rate(x[5m])) by (job)"),
        ("rate(x[5m]) by (job)", "sum(sum by (job) (rate(x[5m])))"),
        ("rate(x[5m]) by (job)", "rate(x[5m])"),
        ("sum(a) by (x) / count(b", "sum(a) / count(b) by (x)"),
        ("max(sum(rate(x[5m]) by (job)))", "max by (job) (sum(rate(x[5m])))"),
        ("rate(a[5m]) / rate(b[5m]) by (job)", "sum by (job) (rate(a[5m]) / rate(b[5m]))"),
    ],
)
def test_another_question_is_not_a_repair(original: str, replacement: str) -> None:
    assert judge_repair(original, replacement) is Repair.CHANGED_MEANING


@pytest.mark.proves("S0-46")
@pytest.mark.parametrize("replacement", ["sum(rate(x[5m])", "", "please use sum(x)"])
def test_a_replacement_is_parsed_once_more(replacement: str) -> None:
    assert judge_repair("sum(rate(x[5m])", replacement) is Repair.STILL_BROKEN


def test_a_replacement_keeps_the_policy() -> None:
    wide = "rate(x[25h]"
    assert judge_repair(wide, f"{wide})", policy=FOR_MODELS) is Repair.STILL_BROKEN


@given(
    st.text(alphabet='ab(){}[]",=by sum5m/', max_size=60),
    st.text(alphabet='ab(){}[]",=by sum5m/', max_size=60),
)
def test_any_two_texts_are_compared(original: str, replacement: str) -> None:
    if same_meaning(original, replacement):
        assert sorted(c for c in original if c.isdigit()) == sorted(
            c for c in replacement if c.isdigit()
        )


def test_a_text_without_end_is_compared_with_nothing() -> None:
    assert not same_meaning("sum(" * 5_000, "sum(" * 5_000)
    assert not same_meaning("sum(x) " + "by (a) " * 500, "sum(x)")
