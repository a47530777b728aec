"""Where a query reaches just far enough, and where a correction still asks the same."""

import pytest

from engine.promql.caps import over
from engine.promql.expression import Expression
from engine.promql.narrow import Inserted, NotInserted, insert_matchers
from engine.promql.policy import DAY_S, FOR_MODELS, refusal
from engine.promql.repair import same_meaning
from engine.promql.scan import Role
from engine.promql.selectors import selector

FAR = "an offset over 691200 s"
LONG = "a range over 86400 s"
COMPUTED = "a range or an offset that is computed"
NAMED = "a regular expression on the metric name"
ALL = "a selector that leaves nothing out"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("rate(up[86400s])", None),
        ("rate(up[1d])", None),
        ("rate(up[86401s])", LONG),
        ("max_over_time(rate(up[12h])[12h:1m])", None),
        ("max_over_time(rate(up[12h])[12h1s:1m])", LONG),
        ("max_over_time(up[12h:1m]) + rate(up[13h])", None),
        ("up offset 8d", None),
        ("up offset -8d", None),
        ("up offset 8d1s", FAR),
        ("up offset -8d1s", FAR),
        ("(up offset 5d) offset 3d", None),
        ("(up offset 5d) offset 4d", FAR),
        ("rate(up[5m] offset 8d)", None),
        ("rate(up[5m] offset 9d)", FAR),
        ('{__name__=~"up.*"}', NAMED),
        ('{__name__!~"up.*", job="a"}', NAMED),
        ('up{__name__!~"x"}', NAMED),
        ('{job!~"a"}', ALL),
        ('{job!="a"}', ALL),
        ('{job=~".*"}', ALL),
        ('{job=~"a.*"}', None),
        ('{job="a"}', None),
    ],
)
def test_how_far_and_how_wide_a_query_may_reach(text: str, why: str | None) -> None:
    assert DAY_S == 86_400
    assert refusal(Expression(text), FOR_MODELS) == why


@pytest.mark.parametrize(
    ("was", "now", "same"),
    [
        ("sum(rate(x[5m])", "sum(rate(x[5m]))", True),
        ("sum(rate(x[5m]) by (a)", "sum by (a) (rate(x[5m]))", True),
        ("rate(x[5m]) by (a)", "sum by (a) (rate(x[5m]))", True),
        ("(rate(x[5m])) by (a)", "sum by (a) (rate(x[5m]))", True),
        ("rate(x[5m]) by (a) by (b)", "sum by (a, b) (rate(x[5m]))", False),
        ("sum by (a) (x) by (b)", "sum by (a) (x)", False),
        ("sum by (a) (x) by (b)", "sum by (b) (x)", False),
        ("by (a) (rate(x[5m]))", "sum by (a) (rate(x[5m]))", False),
        ("a / on(b) group_left(c) d)", "a / on(b) group_left(c) d", True),
        ("(a / on(b) group_left(c) d", "(a / on(b) group_left(c) d)", True),
        ("(a / on(b) group_left(c) d", "(a / on(b) group_right(c) d)", False),
        ("(a / ignoring(b) d", "(a / on(b) d)", False),
        ("(a == bool d", "(a == d)", False),
        ("(a offset 5m", "(a)", False),
        ("(a unless b", "(a and b)", False),
        ("(a atan2 b", "(a atan2 b)", True),
        ("(max(a)", "(min(a))", False),
        ("(rate(x[5m])", "(rate(x[6m]))", False),
        ('(x{b="1",a="2"}', '(x{a="2",b="1"})', True),
        ('(x{a="2"}', '(x{a!="2"})', False),
    ],
)
def test_a_correction_still_asks_the_same(was: str, now: str, same: bool) -> None:
    assert same_meaning(was, now) is same


AGGREGATIONS = (
    *("sum", "avg", "count", "min", "max", "group", "stddev", "stdvar", "topk", "bottomk"),
    *("quantile", "count_values", "limitk", "limit_ratio"),
)


@pytest.mark.parametrize("name", [*AGGREGATIONS, "SUM"])
def test_every_aggregation_is_known_by_its_call(name: str) -> None:
    assert Expression(f"{name}(x)").roles[0] is Role.AGGREGATION
    assert Expression(f"{name} by (a) (x)").roles[0] is Role.AGGREGATION
    assert Expression(name).roles == (Role.METRIC,)


@pytest.mark.parametrize("word", ["and", "or", "unless", "atan2", "AND", *"+-*/%^<>", "==", "!=",
                                  "<=", ">=", "</", ">/"])  # fmt: skip
def test_every_operator_stands_between_two_sides(word: str) -> None:
    assert Expression(f"a {word} b").roles == (Role.METRIC, Role.BINARY, Role.METRIC)


@pytest.mark.parametrize("word", ["on", "ignoring"])
@pytest.mark.parametrize("side", ["group_left", "group_right"])
def test_how_sides_are_matched_is_told_apart_from_what_they_are(word: str, side: str) -> None:
    roles = Expression(f"a / {word}(b) {side}(c) d").roles
    assert roles.count(Role.MATCHING) == 2
    assert roles.count(Role.LABEL) >= 2
    assert roles[-1] is Role.METRIC


@pytest.mark.parametrize("word", ["fill", "fill_left", "fill_right"])
def test_a_filled_side_is_part_of_the_matching(word: str) -> None:
    roles = Expression(f"a / on(b) {word}(0) d").roles
    assert Role.FILL in roles
    assert roles[-1] is Role.METRIC


@pytest.mark.parametrize(
    ("sign", "shift"), [("", "5m"), ("-", "5m"), ("+", "5m"), ("", "(5m)"), ("-", "(1h)")]
)
def test_an_offset_keeps_its_sign_and_its_amount(sign: str, shift: str) -> None:
    roles = Expression(f"a offset {sign}{shift} + b").roles
    assert roles[1] is Role.OFFSET
    assert roles[2] is Role.SHIFT
    assert roles[-2:] == (Role.BINARY, Role.METRIC)


RESERVED = (
    "and or unless atan2 on ignoring group_left group_right bool inf nan offset by without "
    "anchored smoothed fill fill_left fill_right start end step range"
)


@pytest.mark.parametrize("word", [*RESERVED.split(), "AND"])
def test_a_metric_named_like_a_word_of_the_language_is_written_in_braces(word: str) -> None:
    assert selector(word, {}) == f'{{__name__="{word}"}}'
    assert selector(f"{word}_total", {}) == f"{word}_total"


def test_no_matchers_leave_a_query_as_it_is_even_one_nobody_can_read() -> None:
    assert insert_matchers("sum(", {}, only_where_missing=False) == Inserted(
        expr="sum(", selectors=0
    )


def test_what_cannot_be_read_with_its_matchers_is_not_narrowed() -> None:
    said = insert_matchers('sum by (a) (up{job="x"}', {"b": "c"}, only_where_missing=False)
    assert said == NotInserted(detail="not readable with the matchers in it")


@pytest.mark.parametrize("text", ['up{job="a" or job="b"}', '{a="1" or b="2"}'])
def test_alternatives_between_braces_are_never_narrowed(text: str) -> None:
    assert isinstance(insert_matchers(text, {"b": "c"}, only_where_missing=False), NotInserted)


def test_words_of_the_language_are_the_same_in_any_case() -> None:
    assert same_meaning("(a / ON(b) FILL(0) d", "(a / on(b) fill(0) d)")
    assert same_meaning("(SUM BY (a) (x)", "(sum by (a) (x))")


def test_clauses_are_followed_to_the_depth_that_is_parsed_at_all() -> None:
    many = " + ".join(["sum by (a) (x)"] * 50)
    assert same_meaning(f"({many}", f"({many})")
    assert not same_meaning(f"({many} + sum by (a) (x)", f"({many} + sum by (a) (x))")


def test_a_repetition_of_nothing_is_not_counted() -> None:
    assert over(Expression('x{a=~"{9999}b"}')) is None
