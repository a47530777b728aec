"""Nothing that looks like PromQL, or does not, gets past the check as an error."""

import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.promql.check import Verdict, check
from engine.promql.narrow import insert_matchers
from engine.promql.parser import Unparsable, parse
from engine.promql.policy import FOR_MODELS
from engine.promql.repair import judge_repair
from engine.promql.selectors import selectors
from engine.promql.split import split_by
from engine.promql.threshold import comparison_stripped

PIECES = (
    *("sum", "by", "without", "topk", "rate", "absent", "bool", "offset", "@", "on", "ignoring"),
    *(
        "group_left",
        "start()",
        "end()",
        "inf",
        "nan",
        "1e309",
        "0x",
        "-",
        "5m",
        "[5m]",
        "[5m:",
        ":",
    ),
    *("(", ")", "{", "}", "[", "]", ",", '"', "'", "`", "\\", "\\x", "a", 'a="b"', '=~"["', "!~"),
    *(
        "and",
        "or",
        "unless",
        ">",
        "==",
        "^",
        "%",
        "/",
        "histogram_quantile",
        "\x00",
        "é",
        "#",
        "\n",
    ),
)
BROKEN = st.lists(st.sampled_from(PIECES), max_size=25).map(" ".join)


@pytest.mark.proves("S0-38")
@settings(max_examples=200, deadline=None)
@given(BROKEN, BROKEN)
def test_pieces_of_the_language_in_any_order_are_judged_and_never_raise(a: str, b: str) -> None:
    assert check(a, policy=FOR_MODELS).verdict in Verdict
    insert_matchers(a, {"x": 'y"'}, only_where_missing=True)
    judge_repair(a, b)
    selectors(a)
    split_by(a, ["version"])
    comparison_stripped(a)


@pytest.mark.parametrize("expr", ["x offset inf", "x[inf]"])
def test_a_panic_of_the_library_is_a_value(expr: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert isinstance(parse(expr), Unparsable)
    capfd.readouterr()


OFFLINE = """
import os, sys
sys.addaudithook(lambda event, _: os._exit(3) if event.startswith(("socket.", "urllib.")) else None)
from engine.promql.check import check
texts = ("sum(rate(x[5m])) > 1", "sum(rate(x[5m])", "limitk(2, x)")
found = [check(text).verdict.value for text in texts]
assert found == ["valid", "invalid", "unsure"], found
"""


@pytest.mark.proves("S0-41")
def test_the_grammar_is_on_board_and_nothing_is_fetched_to_judge_by_it() -> None:
    done = subprocess.run([sys.executable, "-c", OFFLINE], check=False, capture_output=True)
    assert done.returncode == 0, done.stderr
