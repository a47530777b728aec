"""Every known answer of a provider lands in its class, and no text of ours can choose one."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.backends.failing.decide import Answer, decide
from bot.backends.failing.heard import hear
from bot.backends.failing.job import of_job
from bot.backends.failing.replies import of_message, of_stream
from bot.backends.failing.verdict import Category, InCall, Verdict
from bot.backends.llm_errors import classify
from bot.cli.try_error import run_error
from engine.errors import OperatorActionRequiredError, TimedOutError, TransientError
from engine.model.run import FailureClass

T, P, BILL, G, M = (
    FailureClass.TERMINAL,
    FailureClass.TRANSIENT,
    FailureClass.OPERATOR_ACTION_REQUIRED,
    FailureClass.OPERATIONAL,
    FailureClass.BAD_MODEL_ALIAS_FALLBACK,
)
Json = dict[str, Any]


def error(type_: str, message: str, **more: Any) -> Json:
    return {"type": "error", "error": {"type": type_, "message": message, **more}}


def judged(
    status: int | None, body: object, headers: Mapping[str, str] | None = None, sent: str = ""
) -> Verdict:
    return decide(Answer(status=status, body=body, headers=headers or {}, sent=sent))


def corpus(shared: Path) -> Iterator[Json]:
    with (shared / "data/llm_errors.jsonl").open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def told(row: Mapping[str, Any]) -> Json:
    given_ = {name: row[name] for name in ("kind", "status", "headers", "body")}
    (line,) = run_error([json.dumps(given_)])
    said: Json = json.loads(line)
    return said


@pytest.mark.proves("S3-111", "S3-112", "S3-115")
def test_every_answer_on_record_lands_in_its_class_and_category(shared: Path) -> None:
    rows = list(corpus(shared))
    wrong = [
        (row["id"], said)
        for row, said in zip(rows, map(told, rows), strict=True)
        if (said["class"], said["category"]) != (row["expected_class"], row["category"])
    ]
    assert len(rows) > 50
    assert wrong == []


def test_every_answer_on_record_has_its_try_within_the_call_and_its_notice(shared: Path) -> None:
    judge = {"message": of_message, "sse": of_stream, "http": decide}
    for row in corpus(shared):
        if row["kind"] not in judge:
            continue
        answer = Answer(status=row["status"], body=row["body"], headers=row["headers"])
        verdict = judge[row["kind"]](answer)
        in_call = verdict.in_call and verdict.in_call.value
        assert (in_call, verdict.notice) == (row["in_call"], row["operator_notice"]), row["id"]


@pytest.mark.proves("S3-111", "S3-112", "S3-115")
@pytest.mark.parametrize(
    ("status", "body", "failure", "category"),
    [
        (400, error("invalid_request_error", "Your credit balance is too low."), BILL, "billing"),
        (500, error("api_error", "insufficient balance (1008)"), BILL, "billing"),
        (402, "<html>pay</html>", BILL, "billing"),
        (None, {"error": {"error": {"message": "x", "code": 402}}}, BILL, "billing"),
        (429, {"error": {"message": "x", "code": "billing_hard_limit_reached"}}, BILL, "billing"),
        (
            429,
            error("x", "x", details={"error_code": "team_spend_limit_exceeded"}),
            BILL,
            "billing",
        ),
        (400, {"error": {"message": "Budget has been exceeded! Max: 5"}}, BILL, "budget"),
        (429, "No deployments available - crossed budget: 2 >= 1", BILL, "budget"),
        (429, "No deployments available for selected model.", G, "capacity"),
        (429, {"message": "Too many tokens per day, please wait."}, G, "capacity"),
        (503, error("api_error", "x", error_code="cmek_context_unavailable"), G, "sdk_code"),
        (429, error("rate_limit_error", "x", error_code="ramp_limit_exceeded"), P, "sdk_code"),
        (429, error("x", "x", error_code="organization_on_hold"), T, "sdk_code"),
        (404, error("not_found_error", "model: claude-9"), M, "model"),
        (404, {"error": {"message": "The model `x` does not exist", "code": 404}}, M, "model"),
        (404, {"error": {"code": "model_not_found", "message": "?"}}, M, "model"),
        (403, {"message": "You don't have access to the model with this ID."}, T, "auth"),
        (404, error("not_found_error", "Not found"), T, "bad_request"),
        (429, {"error": {"status": "RESOURCE_EXHAUSTED", "code": 429}}, P, "rate_limit"),
        (403, {"error": {"message": "Quota exceeded for requests"}}, P, "rate_limit"),
        (408, None, P, "timeout"),
        (409, None, P, "5xx"),
        (425, None, P, "5xx"),
        (529, None, P, "overloaded"),
        (502, "<html>bad gateway</html>", P, "5xx_html"),
        (None, "Connection refused", P, "unreachable"),
        (None, None, P, "unclassified"),
        (400, error("invalid_request_error", "prompt is too long: 3 > 2"), T, "too_long"),
        (413, "<html>no</html>", T, "too_large"),
        (401, None, T, "auth"),
        (418, None, T, "bad_request"),
    ],
)
def test_codes_come_before_words_and_words_before_the_status(
    status: int | None, body: object, failure: FailureClass, category: str
) -> None:
    verdict = judged(status, body)
    assert (verdict.failure, verdict.category.value) == (failure, category)


def nested(levels: int, body: Json) -> object:
    for _ in range(levels):
        body = {"error": {"message": "gateway says " + json.dumps(body)}}
    return body


@pytest.mark.parametrize(("levels", "failure"), [(1, BILL), (6, BILL), (7, T)])
def test_json_inside_text_is_opened_six_levels_deep(levels: int, failure: FailureClass) -> None:
    code = {"details": {"error_code": "enforced_spend_limit_reached", "type": "billing_error"}}
    assert "billing_error" in hear(nested(min(levels, 6), code)).codes
    assert judged(400, nested(levels, {"k": {"code": 402}})).failure is failure


@pytest.mark.parametrize("value", ["None", "True", "False", "7", "'x'"])
def test_a_body_in_pythons_own_spelling_is_opened_too(value: str) -> None:
    said = f"Error code: 400 - {{'error': {{'type': 'billing_error', 'param': {value}}}}}"
    assert judged(400, said).failure is BILL


@pytest.mark.parametrize(
    "message",
    [
        "messages.3.content.0.text: invalid 'Your credit balance is too low'",
        'messages.0: {"type": "billing_error", "code": 402} is no block',
        "tools.0.description: budget has been exceeded",
        "system: No deployments available",
        "system.1.text: model: claude-9 does not exist",
        "litellm.BadRequestError: AnthropicException - messages.7: insufficient balance",
    ],
)
def test_what_a_provider_quotes_of_our_input_decides_nothing(message: str) -> None:
    verdict = judged(400, error("invalid_request_error", message))
    assert verdict.failure is T
    inside = {"error": {"message": "gateway: " + json.dumps(error("invalid", message))}}
    assert judged(400, inside).failure is T


def test_a_marker_that_stands_in_what_we_sent_downgrades_to_the_status() -> None:
    alert = 'Alert: {"code": 402, "type": "billing_error"}; budget has been exceeded'
    body = error("invalid_request_error", f"unexpected token near {alert}")
    assert judged(400, body).failure is BILL
    echoed = judged(400, body, sent=f"... {alert} ...")
    assert (echoed.failure, echoed.category, echoed.echo) == (T, Category.ECHO, True)
    assert judged(503, body, sent=alert).failure is P


def test_a_code_of_the_providers_own_decides_even_if_we_sent_the_same_word() -> None:
    body = error("billing_error", "There is an issue with your billing.")
    assert judged(400, body, sent="billing_error").failure is BILL


@pytest.mark.parametrize(
    ("headers", "message", "wait_s"),
    [
        ({"retry-after": "17"}, "", 17),
        ({"Retry-After-Ms": "2500"}, "", 2.5),
        ({}, "Try again in 20 seconds.", 20),
        ({}, "please retry in 500ms", 0.5),
        ({}, "try again after 5 minutes", 300),
        ({"retry-after": "5"}, "Try again in 30s", 30),
        ({"retry-after": "99999"}, "", 900),
        ({"retry-after": "0"}, "", None),
        ({"retry-after": "-5"}, "", None),
        ({"retry-after": "inf"}, "", None),
        ({"retry-after": "nan"}, "", None),
        ({"retry-after": "soon"}, "try again later", None),
        (
            {
                "retry-after": "Wed, 21 Oct 2026 07:28:00 GMT",
                "date": "Wed, 21 Oct 2026 07:27:00 GMT",
            },
            "",
            60,
        ),
        (
            {
                "retry-after": "Wed, 21 Oct 2015 07:28:00 GMT",
                "date": "Wed, 21 Oct 2026 07:27:00 GMT",
            },
            "",
            None,
        ),
    ],
)
def test_a_hint_is_a_wait_of_at_most_a_quarter_of_an_hour(
    headers: dict[str, str], message: str, wait_s: float | None
) -> None:
    verdict = judged(429, error("rate_limit_error", message), headers)
    assert verdict.retry_after_s == wait_s


@pytest.mark.parametrize("hint", [0, -3, True, 1e300, "1e9", None, "120s", 120])
def test_a_hint_in_the_body_counts_when_it_is_one(hint: object) -> None:
    wait_s = judged(503, {"error": {"retry_after": hint}}).retry_after_s
    assert wait_s == (120 if hint in ("120s", 120) else None)


def test_what_is_not_tried_again_has_no_wait() -> None:
    body = error("billing_error", "try again in 60 seconds")
    assert judged(402, body, {"retry-after": "60"}).retry_after_s is None


def message(stop: str | None, *content: Json) -> Verdict:
    body = {"type": "message", "content": list(content), "stop_reason": stop}
    return of_message(Answer(status=200, body=body, headers={}))


TEXT = {"type": "text", "text": "fine"}
CALL = {"type": "tool_use", "id": "t", "name": "n", "input": {}}


@pytest.mark.parametrize(
    ("stop", "content", "failure", "in_call"),
    [
        ("end_turn", [TEXT], None, None),
        ("end_turn", [CALL], None, None),
        ("end_turn", [], P, InCall.REASK_ONCE),
        ("end_turn", [{"type": "text", "text": " \n"}], P, InCall.REASK_ONCE),
        ("end_turn", [{"type": "thinking", "thinking": "hm"}], P, InCall.REASK_ONCE),
        ("tool_use", [CALL], None, None),
        ("tool_use", [TEXT], P, InCall.REASK_ONCE),
        ("refusal", [TEXT], T, None),
        ("max_tokens", [CALL], T, InCall.RAISE_MAX_TOKENS),
        ("model_context_window_exceeded", [TEXT], T, InCall.SHRINK_PACK),
        ("pause_turn", [], None, InCall.RESEND_TURN),
        (None, [TEXT], P, None),
        ("brand_new_reason", [TEXT], P, None),
    ],
)
def test_a_reply_counts_only_with_a_known_reason_to_stop_and_something_said(
    stop: str | None, content: list[Json], failure: FailureClass | None, in_call: InCall | None
) -> None:
    verdict = message(stop, *content)
    assert (verdict.failure, verdict.in_call) == (failure, in_call)


@pytest.mark.parametrize("body", ["<html>Sign in</html>", "hi", None, [], 7, {"type": "x"}])
def test_a_success_that_is_no_message_is_tried_again_and_told(body: object) -> None:
    verdict = of_message(Answer(status=200, body=body, headers={}))
    assert (verdict.failure, verdict.category, verdict.notice) == (P, Category.NO_MESSAGE, True)


def test_an_error_with_status_200_is_an_error() -> None:
    answer = Answer(status=200, body={"error": {"code": 402, "message": "x"}}, headers={})
    assert of_message(answer).failure is BILL


@pytest.mark.parametrize(
    ("body", "good"),
    [
        ('{"alert_group_id": "550e8400-e29b-41d4-a716-446655440000", "v": 2}', True),
        ({"alert_group_id": "550e8400-e29b-41d4-a716-446655440000"}, True),
        ("", False),
        ("[]", False),
        ('{"alert_group_id": 7}', False),
        (None, False),
    ],
)
def test_a_job_that_cannot_be_read_is_poison(body: object, good: bool) -> None:
    failure = of_job(body).failure
    assert failure is (None if good else FailureClass.POISON_PAYLOAD)


def test_the_engine_is_told_the_class_the_words_and_the_wait() -> None:
    late = classify(504, None, {}, "")
    assert isinstance(late, TimedOutError)
    busy = classify(529, error("overloaded_error", "Overloaded"), {"retry-after": "9"}, "")
    assert (type(busy), busy.detail, busy.retry_after_s) == (TransientError, "Overloaded", 9)
    broke = classify(400, error("invalid_request_error", "credit balance is too low"), {}, "")
    assert isinstance(broke, OperatorActionRequiredError)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=30),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                ["error", "code", "type", "status", "message", "retry_after", "content"]
            )
            | st.text(max_size=5),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@settings(max_examples=150, deadline=None)
@given(
    body=JSON | JSON.map(json.dumps),
    status=st.none() | st.integers(0, 999),
    kind=st.sampled_from(["http", "sse", "message", "queue", "transport", None]),
)
def test_no_body_breaks_the_judging(body: object, status: int | None, kind: str | None) -> None:
    line = json.dumps(
        {"kind": kind, "status": status, "headers": {"retry-after": "x"}, "body": body}
    )
    (said,) = map(json.loads, run_error([line]))
    assert said["class"] in {*FailureClass, "none", "continue"}


@pytest.mark.parametrize("hostile", ["[" * 100_000, '{"a":' * 50_000, "{" * 20_000, "9" * 100_000])
def test_hostile_bodies_are_judged_in_bounded_work(hostile: str) -> None:
    assert judged(500, hostile).failure is P
    assert judged(400, {"error": {"message": hostile}}).failure is T
