"""`caveat try promql` says a verdict a line."""

import json

from bot.cli.try_promql import run_promql
from engine.promql.policy import FOR_MODELS


def test_each_line_gets_one_object() -> None:
    lines = [" up == 0 \n", "\n", "sum(rate(x[5m])\n", "x > 1_000", '{job="a"}']
    said = [json.loads(line) for line in run_promql(lines)]
    assert [(s["expr"], s["verdict"], s["reason"]) for s in said] == [
        ("up == 0", "valid", None),
        ("sum(rate(x[5m])", "invalid", "syntax"),
        ("x > 1_000", "unsure", None),
        ('{job="a"}', "valid", None),
    ]


def test_an_expression_over_several_lines_comes_in_an_object() -> None:
    (said,) = run_promql([json.dumps({"expr": "a\n/ b", "origin": "a rule"})])
    assert json.loads(said)["expr"] == "a\n/ b"


def test_the_policy_is_judged_when_asked_for() -> None:
    (free,), (bound,) = (
        [json.loads(line) for line in run_promql(["rate(x[3d])"], policy=policy)]
        for policy in (None, FOR_MODELS)
    )
    assert (free["verdict"], bound["reason"]) == ("valid", "policy")
