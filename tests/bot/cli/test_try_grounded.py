"""`caveat try indicators` and `groundedness` read a JSON object a line."""

import json

from bot.cli.try_grounded import run_groundedness, run_indicators


def test_a_line_gives_its_indicators() -> None:
    lines = [
        json.dumps({"text": "payments-api on 10.0.0.7", "known": ["payments-api"]}),
        "\n",
        json.dumps({"text": "nothing here"}),
    ]
    assert [json.loads(line)["indicators"] for line in run_indicators(lines)] == [
        [{"kind": "svc", "text": "payments-api"}, {"kind": "ip", "text": "10.0.0.7"}],
        [],
    ]


def test_a_finding_is_scored_against_texts_and_objects() -> None:
    given = {
        "finding": ["1,248 s on db-9", "in checkout"],
        "evidence": ["db-9 up", {"lag_s": 1248, "namespace": "checkout"}],
    }
    (line,) = run_groundedness([json.dumps(given)])
    said = json.loads(line)
    assert (said["score"], said["missing"]) == (1, [])
    assert [one["text"] for one in said["found"]] == ["1,248 s", "db-9", "checkout"]


def test_nothing_to_check_is_null() -> None:
    (line,) = run_groundedness([json.dumps({"finding": "it broke", "evidence": None})])
    assert json.loads(line)["score"] is None


def test_lines_of_any_shape_are_answered() -> None:
    hostile = ["{", "[" * 5000, "7", '{"text": 1, "known": 2}', '"10.0.0.7"']
    assert len(list(run_indicators(hostile))) == len(hostile)
    assert len(list(run_groundedness(hostile))) == len(hostile)
