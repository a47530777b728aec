"""Tokens, roles, literals and selectors."""

import promql_parser
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.promql.references import references
from engine.promql.selectors import Matcher, selector, selectors
from engine.promql.strings import quote, unquote
from engine.promql.tokens import Kind, joined, significant, tokens

SYNTAX = st.text(alphabet="ax_:(){}[]\"'`\\,=~!<>+-*/^%@0159.msh \n#é", max_size=100)


@given(st.text() | SYNTAX)
def test_tokens_join_back_to_the_text(expr: str) -> None:
    found = tokens(expr)
    assert joined(found) == expr
    assert all(expr[token.start : token.end] == token.text for token in found)


@pytest.mark.parametrize(
    ("expr", "kinds"),
    [
        ("job:rate5m:sum", [("job:rate5m:sum", Kind.WORD)]),
        ("[1h:5m]", ["[", ("1h", Kind.DURATION), ":", ("5m", Kind.DURATION), "]"]),
        ('"a\\"b" \'c"\'', [('"a\\"b"', Kind.STRING), ("'c\"'", Kind.STRING)]),
        ("`a\\`", [("`a\\`", Kind.STRING)]),
        (
            "1e+06 .5 0x1F 1h30m",
            [
                ("1e+06", Kind.NUMBER),
                (".5", Kind.NUMBER),
                ("0x1F", Kind.NUMBER),
                ("1h30m", Kind.DURATION),
            ],
        ),
        ("1_000>/2", [("1_000", Kind.NUMBER), ">/", ("2", Kind.NUMBER)]),
        ("x # and (\n!= y", [("x", Kind.WORD), "!=", ("y", Kind.WORD)]),
        ('"open', [('"open', Kind.BAD)]),
        ("5mm $x", [("5mm", Kind.BAD), ("$", Kind.BAD), ("x", Kind.WORD)]),
    ],
)
def test_a_text_is_cut_as_the_language_cuts_it(
    expr: str, kinds: list[str | tuple[str, Kind]]
) -> None:
    wanted = [(k, Kind.OP) if isinstance(k, str) else k for k in kinds]
    assert [(token.text, token.kind) for token in significant(expr)] == wanted


@given(st.text())
def test_a_quoted_value_is_read_back_by_the_parser(value: str) -> None:
    kept = "".join("\ufffd" if "\ud800" <= c <= "\udfff" else c for c in value)
    written = selector("up", {"pod": value})
    (read,) = promql_parser.parse(written).matchers.matchers
    assert (read.name, read.value) == ("pod", kept)
    assert unquote(quote(value)) == kept
    assert "\n" not in written


@pytest.mark.parametrize(
    ("metric", "matchers", "written"),
    [
        ("up", {}, "up"),
        ("up", {"job": "a"}, 'up{job="a"}'),
        (None, {"job": "a", "pod": 'b"\n'}, '{job="a",pod="b\\"\\n"}'),
        ("http.requests", {}, '{__name__="http.requests"}'),
        ("on", {"a.b": "c"}, '{__name__="on","a.b"="c"}'),
    ],
)
def test_a_selector_is_written_so_that_it_parses(
    metric: str | None, matchers: dict[str, str], written: str
) -> None:
    assert selector(metric, matchers) == written
    assert promql_parser.parse(written)


def test_selectors_are_found_where_they_stand() -> None:
    left = 'sum by (job) (rate(a{x="by"}[5m])) / on(b) group_left(c) sum'
    expr = left + ' > {"d.e", y!="f"} and {__name__="g"}'
    found = selectors(expr)
    assert [s.metric for s in found] == ["a", "sum", "d.e", "g"]
    assert [expr[s.start : s.end] for s in found] == [
        'a{x="by"}',
        "sum",
        '{"d.e", y!="f"}',
        '{__name__="g"}',
    ]
    assert found[0].matchers == (Matcher(label="x", op="=", value="by"),)
    assert found[2].matchers == (Matcher(label="y", op="!=", value="f"),)


def test_broken_text_gives_the_selectors_that_can_be_read() -> None:
    assert [s.metric for s in selectors('sum(rate(a{x="1"[5m)) / b{')] == ["a", "b"]


def test_references_tell_what_an_expression_speaks_of() -> None:
    found = references('absent(up{job="x"}) or predict_linear(a[1h], 3600) < 0 or SUM(a) by (c)')
    assert found.metrics == ("up", "a")
    assert found.functions == ("absent", "predict_linear")
    assert found.aggregations == ("sum",)
    assert found.labels == ("job",)
