"""The local check: its limits, its verdicts, and what the corpora say of it."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.promql.caps import MAX_CHARACTERS, MAX_OPERATORS, MAX_WIDE
from engine.promql.check import InvalidReason, Verdict, check
from engine.promql.policy import FOR_MODELS
from engine.promql.server import EXPERIMENTAL_FLAG, ServerInfo

VALID, INVALID, UNSURE = Verdict.VALID, Verdict.INVALID, Verdict.UNSURE
OLD = ServerInfo.of("2.42.0+ds")
FLAGGED = ServerInfo.of("3.5.3", f"exemplar-storage,{EXPERIMENTAL_FLAG}")


def rows(shared: Path, name: str) -> Iterator[dict[str, object]]:
    with (shared / "data/promql" / f"{name}.jsonl").open(encoding="utf-8") as lines:
        yield from (json.loads(line) for line in lines)


@pytest.mark.proves("S0-38", "S0-40", "S0-42")
@pytest.mark.parametrize(
    ("expr", "verdict"),
    [
        ("sum by (job) (rate(http_requests_total[5m]))", VALID),
        ('up{job=~"api|web"} == 0 and on (instance) node_load1 > 4', VALID),
        ("sum(rate(x[5m])", INVALID),
        ("rate(x[5m]) by (job)", INVALID),
        ("x{job='api'", INVALID),
        ("nosuch(x)", INVALID),
        ("rate(x)", INVALID),
        ("", INVALID),
        ("up\ud800", INVALID),
        ("holt_winters(x[5m], 0.5, 0.5)", INVALID),
    ],
)
def test_an_expression_is_judged_without_any_server(expr: str, verdict: Verdict) -> None:
    judged = check(expr)
    assert judged.verdict is verdict
    assert judged.reason is (InvalidReason.SYNTAX if verdict is INVALID else None)


@pytest.mark.proves("S0-58")
def test_a_metric_nobody_has_is_valid_and_no_fault_of_the_query() -> None:
    assert check("metric_that_matches_nothing").verdict is VALID


@pytest.mark.parametrize(
    "expr",
    [
        # wrongly refused by the parser
        "h </ 5",
        "rate(x[5m] smoothed)",
        "anchored + 1",
        "rate(x[1m*2])",
        "x[.5]",
        "x offset (5m + step())",
        "x offset -min_of(1m, step())",
        "x offset --5m",
        "x > 1_000",
        "x @ 1_000",
        "sum by (foo:bar) (x)",
        "x > 0s",
        'info(x, {a=~".*"})',
        "x{a=`\\d`}",
        'x{a=~"\\\\Qa.b\\\\E"}',
        "x offset NaN",
        "x offset -Inf",
        "x[1e30]",
        # wrongly taken by the parser
        'label_replace(x, "a", +"b", "c", "d")',
        "rate(+x[5m])",
        "log2(-20)",
        "x > 1e320",
        f"x > {'9' * 400}",
        "rate(x[0])",
        "x > 801y",
        "x[9.5e10]",
        "x @ 9223372036854775808",
        'x{a="b" or c="d"}',
        'x{a=~"b**"}',
        'x{a="\ufffd"}',
        # a matter of flags
        "limitk(2, x)",
        "sort_by_label(x)",
        "a + fill(0) b",
        "x * step()",
        "first_over_time(x[5m])",
    ],
)
def test_where_the_parser_errs_only_the_server_knows(expr: str) -> None:
    assert check(expr).verdict is UNSURE


@pytest.mark.parametrize(
    ("expr", "server", "verdict"),
    [
        ("sort_by_label(x)", FLAGGED, VALID),
        ("limitk(2, x)", FLAGGED, UNSURE),
        ("sort_by_label(x)", OLD, UNSURE),
        ("histogram_avg(x)", None, VALID),
        ("histogram_avg(x)", OLD, UNSURE),
        ("holt_winters(x[5m], 0.5, 0.5)", OLD, UNSURE),
        ("x[300]", None, VALID),
        ("x[300]", OLD, UNSURE),
        ("x > 5m", OLD, UNSURE),
        ('{"a.b"}', None, VALID),
        ('{"a.b"}', OLD, UNSURE),
        ('{a="b"}', OLD, VALID),
        ("x[300]", ServerInfo.of("no version"), VALID),
    ],
)
def test_a_known_server_counts(expr: str, server: ServerInfo | None, verdict: Verdict) -> None:
    assert check(expr, server=server).verdict is verdict


@pytest.mark.parametrize(
    "expr",
    [
        "x" * (MAX_CHARACTERS + 1),
        "(" * 51 + "x" + ")" * 51,
        "abs(" * 10_000 + "x" + ")" * 10_000,
        "+".join(["x"] * (MAX_OPERATORS + 2)),
        "-" * (MAX_OPERATORS + 1) + "x",
        "^".join(["2"] * (MAX_OPERATORS + 2)),
        " and ".join(["x"] * (MAX_OPERATORS + 2)),
        "x" + "[5m:1m]" * (MAX_OPERATORS + 1),
        'x{a=~"(\\\\w{20}){20}"}',
        "x{" + ",".join(['a=~"\\\\w"'] * (MAX_WIDE + 1)) + "}",
    ],
)
def test_what_could_end_the_process_is_never_parsed(expr: str) -> None:
    assert check(expr).reason is InvalidReason.POLICY


def test_the_limits_leave_room_for_what_people_write() -> None:
    assert check("(" * 50 + "x" + ")" * 50).verdict is VALID
    assert check("+".join(["x"] * (MAX_OPERATORS + 1))).verdict is VALID
    assert check("x{" + ",".join(['a="b"'] * 300) + "}").verdict is VALID
    assert check('x{a=~"(\\\\w+-){3}\\\\w{1,63}"}').verdict is VALID


@pytest.mark.parametrize("amount", ["inf", "-Inf", "nan", "- NaN", "1e30", "-1e300"])
def test_a_known_panic_is_kept_from_the_parser(amount: str, capfd: pytest.CaptureFixture) -> None:
    for expr in (f"x offset {amount}", f"x[{amount}]", f"x[5m:{amount}]"):
        check(expr)
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize(
    ("expr", "refused"),
    [
        ('{__name__=~"a.*"}', True),
        ('{"__name__"!~"a"}', True),
        ('sum({__name__=~"a"', True),
        ('{job=~".+"}', True),
        ('{job!="a"}', True),
        ("{}", True),
        ("rate(x[25h])", True),
        ("rate(x[90000])", True),
        ("max_over_time(rate(x[2h])[23h:1m])", True),
        ("max_over_time(avg_over_time(max_over_time(x[10h])[10h:])[5h:1m])", True),
        ("x[1h*48]", True),
        ("x offset 9d", True),
        ("x offset -9d", True),
        ("max_over_time((x offset 5d)[1h:] offset 5d)", True),
        ("x offset (1d * 30)", True),
        ('{job="a"}', False),
        ('{job=~"a|b"}', False),
        ('{__name__="up"}', False),
        ('x{job=~".+"}', False),
        ("rate(x[24h]) / rate(y[24h])", False),
        ("max_over_time(rate(x[1h])[23h:1m])", False),
        ("rate(x[5m]) / rate(x[5m] offset 1w)", False),
    ],
)
def test_a_model_may_not_ask_too_widely(expr: str, refused: bool) -> None:
    judged = check(expr, policy=FOR_MODELS)
    assert (judged.reason is InvalidReason.POLICY) is refused
    assert check(expr).reason is not InvalidReason.POLICY


@settings(max_examples=300, deadline=None)
@given(
    st.text(max_size=200)
    | st.text(alphabet="ab(){}[]\"'`\\,:=~!<>+-*/^%@_0159.mhd \n#", max_size=80)
)
def test_no_text_breaks_the_check(expr: str) -> None:
    assert check(expr, policy=FOR_MODELS).verdict in Verdict


@pytest.mark.corpus
@pytest.mark.parametrize("name", ["rules_mixins", "rules_awesome"])
def test_no_real_rule_is_refused_or_doubted(name: str, shared: Path) -> None:
    odd = [
        row["expr"] for row in rows(shared, name) if check(str(row["expr"])).verdict is not VALID
    ]
    assert odd == []


@pytest.mark.corpus
def test_no_query_of_the_compliance_suite_is_refused_or_doubted(shared: Path) -> None:
    odd = [
        r["expr"] for r in rows(shared, "compliance") if check(str(r["expr"])).verdict is not VALID
    ]
    assert odd == ['{__name__=~".*"}'], "which the server refuses too"


@pytest.mark.corpus
def test_no_dashboard_query_is_doubted(shared: Path) -> None:
    assert not [
        row["expr"]
        for row in rows(shared, "grafana_dashboards")
        if check(str(row["expr"])).verdict is UNSURE
    ]


@pytest.mark.corpus
def test_where_parser_and_server_differ_the_check_is_unsure(shared: Path) -> None:
    found = {True: [0, 0], False: [0, 0]}
    for row in rows(shared, "disagreements"):
        caught = check(str(row["expr"])).verdict is UNSURE
        found[bool(row["promql_parser"])][caught] += 1
    (missed_taken, taken), (missed_refused, refused) = found[True], found[False]
    assert taken / (taken + missed_taken) >= 0.97
    assert refused / (refused + missed_refused) >= 0.99


@pytest.mark.corpus
@pytest.mark.proves("S0-40")
def test_mutants_are_judged_as_the_server_judges_them(shared: Path) -> None:
    labelled = [*rows(shared, "mutants_labelled")]
    judged = [(bool(r["official_3_14_default"]), check(str(r["expr"])).verdict) for r in labelled]
    assert (True, INVALID) not in judged
    assert (False, VALID) not in judged
    assert judged.count((False, UNSURE)) / len(judged) < 0.06


@pytest.mark.corpus
def test_the_servers_own_parser_tests_are_judged_as_labelled(shared: Path) -> None:
    wrong = [
        row["expr"]
        for row in rows(shared, "parse_test")
        if row.get("utf8")
        and check(str(row["expr"])).verdict is (INVALID if row["valid"] else VALID)
    ]
    assert wrong == []


@pytest.mark.corpus
def test_no_evaluated_query_of_the_servers_tests_is_refused(shared: Path) -> None:
    verdicts = {str(r["expr"]): check(str(r["expr"])).verdict for r in rows(shared, "promqltest")}
    assert [expr for expr, verdict in verdicts.items() if verdict is INVALID] == []
