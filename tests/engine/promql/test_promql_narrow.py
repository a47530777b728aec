"""Matchers are put into selectors and nowhere else."""

import json
from pathlib import Path

import promql_parser
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.promql.check import Verdict, check
from engine.promql.narrow import Inserted, NotInserted, insert_matchers
from engine.promql.selectors import Matcher, selectors

ONE = {"ns": "a"}


@pytest.mark.parametrize(
    ("expr", "expected"),
    [
        ("up", 'up{ns="a"}'),
        ("up{}", 'up{ns="a"}'),
        ('up{job="b"}', 'up{job="b",ns="a"}'),
        ('up{job="b", }', 'up{job="b", ns="a"}'),
        ('{"http.requests"}', '{"http.requests",ns="a"}'),
        ('up{ns="other"}', 'up{ns="other",ns="a"}'),
        ("sum by (up) (rate(up[5m] offset 1h))", 'sum by (up) (rate(up{ns="a"}[5m] offset 1h))'),
        ("a * on(b) group_left(c) d", 'a{ns="a"} * on(b) group_left(c) d{ns="a"}'),
        ("sum + by", 'sum{ns="a"} + by{ns="a"}'),
        (
            'label_replace(a, "up", "up", "up", "up")',
            'label_replace(a{ns="a"}, "up", "up", "up", "up")',
        ),
        ('a{b="}"} # up\n> 5m', 'a{b="}",ns="a"} # up\n> 5m'),
        ("max_over_time(a[1h:5m] @ start())", 'max_over_time(a{ns="a"}[1h:5m] @ start())'),
        ("time() > bool inf", "time() > bool inf"),
        ("a </ 1_000", 'a{ns="a"} </ 1_000'),
        ("rate(a[1m*2])", 'rate(a{ns="a"}[1m*2])'),
    ],
)
def test_every_selector_gets_the_matchers(expr: str, expected: str) -> None:
    inserted = insert_matchers(expr, ONE, only_where_missing=False)
    assert isinstance(inserted, Inserted)
    assert inserted.expr == expected
    assert inserted.selectors == expected.count('ns="a"')


@pytest.mark.parametrize(
    ("expr", "expected"),
    [
        ('up{job="b"} / up', 'up{job="b"} / up{ns="a"}'),
        ('up{job=~"b"}', 'up{job=~"b",ns="a"}'),
        ('up{job=""}', 'up{job="",ns="a"}'),
        ('{__name__="up"}', '{__name__="up",ns="a"}'),
        ('{"up"}', '{"up",ns="a"}'),
    ],
)
def test_the_shared_scope_goes_where_no_label_is_held_to_a_value(expr: str, expected: str) -> None:
    inserted = insert_matchers(expr, ONE, only_where_missing=True)
    assert isinstance(inserted, Inserted)
    assert inserted.expr == expected


@pytest.mark.parametrize(
    "expr",
    [
        'up{a="b" or c="d"}',
        "sum(rate(x[5m])",
        "info(up)",
        "x" * 5_000,
        "x" * 3_995,
    ],
)
def test_what_cannot_be_narrowed_safely_is_refused(expr: str) -> None:
    assert isinstance(insert_matchers(expr, ONE, only_where_missing=False), NotInserted)


@given(st.dictionaries(st.from_regex(r"[a-z_]{1,8}", fullmatch=True), st.text(), max_size=3))
def test_any_value_stays_a_value(matchers: dict[str, str]) -> None:
    expr = 'sum(rate(a{x="1"}[5m])) > b'
    inserted = insert_matchers(expr, matchers, only_where_missing=False)
    assert isinstance(inserted, Inserted)
    assert promql_parser.parse(inserted.expr)
    clean = {
        k: "".join("\ufffd" if "\ud800" <= c <= "\udfff" else c for c in v)
        for k, v in matchers.items()
    }
    added = [Matcher(label=label, op="=", value=value) for label, value in clean.items()]
    if "__name__" not in matchers:
        assert [list(s.matchers) for s in selectors(inserted.expr)] == [
            [Matcher(label="x", op="=", value="1"), *added],
            added,
        ]


@pytest.mark.corpus
@pytest.mark.parametrize("name", ["rules_mixins", "rules_awesome", "compliance"])
def test_every_real_query_can_be_narrowed(name: str, shared: Path) -> None:
    with (shared / "data/promql" / f"{name}.jsonl").open(encoding="utf-8") as lines:
        exprs = [json.loads(line)["expr"] for line in lines]
    refused = [
        expr
        for expr in exprs
        if check(expr).verdict is Verdict.VALID
        and isinstance(insert_matchers(expr, ONE, only_where_missing=False), NotInserted)
    ]
    assert refused == []
