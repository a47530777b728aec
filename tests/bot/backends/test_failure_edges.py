"""The edges of the failure classes: what decides, beside what does not."""

from typing import Any

import pytest

from bot.backends.failing.decide import Answer
from bot.backends.failing.heard import hear
from bot.backends.failing.replies import of_stream
from bot.backends.failing.verdict import Category, InCall
from engine.model.run import FailureClass
from tests.bot.backends.test_failure_classes import BILL, CALL, G, P, T, error, judged, message


@pytest.mark.parametrize(
    ("status", "body", "category"),
    [
        (408, None, "timeout"),
        (504, None, "timeout"),
        (522, None, "timeout"),
        (524, None, "timeout"),
        (499, None, "5xx"),
        (429, None, "rate_limit"),
        (503, "<!doctype html>", "5xx_html"),
        (503, "x <html>", "5xx"),
        (503, "upstream timed out", "timeout"),
        (None, "stream ended early", "stream_cut"),
        (None, "peer closed connection", "stream_cut"),
        (None, error("x", "x", code="deadline_exceeded"), "timeout"),
        (None, error("overloaded_error", "x"), "overloaded"),
        (500, error("x", "the engine is Overloaded"), "overloaded"),
        (500, error("throttling_exception", "x"), "rate_limit"),
        (500, error("x", "too many requests"), "rate_limit"),
        (400, error("x", "currently overloaded"), "overloaded"),
        (400, error("rate_limit", "x"), "rate_limit"),
        (None, error("api_error", "x"), "5xx"),
        (None, error("timeout_error", "x"), "timeout"),
        (200, {"status": 503}, "5xx"),
        (399, "x", "unclassified"),
        (None, {"code": 399}, "unclassified"),
    ],
)
def test_what_passes_by_itself_has_its_name(
    status: int | None, body: object, category: str
) -> None:
    verdict = judged(status, body)
    assert (verdict.failure, verdict.category.value) == (P, category)
    assert (verdict.in_call, verdict.notice, verdict.echo) == (None, False, False)


@pytest.mark.parametrize(
    ("status", "body", "category"),
    [
        (401, None, "auth"),
        (403, None, "auth"),
        (407, None, "auth"),
        (400, error("authentication_error", "x"), "auth"),
        (400, error("permission_error", "x"), "auth"),
        (400, error("x", "country not supported"), "auth"),
        (400, error("request_too_large", "x"), "too_large"),
        (400, error("x", "request body size"), "too_large"),
        (400, error("context_length_exceeded", "x"), "too_long"),
        (403, {"message": "flagged by moderation"}, "content_filter"),
        (400, error("x", "blocked by policy"), "content_filter"),
        (400, error("x", "tool_use ids"), "tool_pairing"),
        (400, error("x", "tools.0 is bad"), "tool_schema"),
        (400, error("x", "messages must not be empty"), "empty_input"),
        (None, error("invalid_request_error", "x"), "bad_request"),
        (None, error("not_found_error", "x"), "bad_request"),
        (None, {"code": 400}, "bad_request"),
        (200, "Error code: 404 x", "bad_request"),
        (400, "Error code: 503 x", "bad_request"),
        (400, {"status": 399}, "bad_request"),
    ],
)
def test_what_would_be_refused_again_has_its_name(
    status: int | None, body: object, category: str
) -> None:
    verdict = judged(status, body)
    assert (verdict.failure, verdict.category.value) == (T, category)
    shrinks = category in {"too_long", "too_large"}
    assert verdict.in_call is (InCall.SHRINK_PACK if shrinks else None)
    assert verdict.notice is (category == "auth")


def test_words_quoted_of_our_input_are_an_echo() -> None:
    said = "messages.3.content.0.text: invalid 'Your credit balance is too low'"
    verdict = judged(400, error("invalid_request_error", said))
    assert (verdict.failure, verdict.category, verdict.echo) == (T, Category.ECHO, True)
    assert judged(400, error("invalid_request_error", "messages.3: invalid")).echo is False


@pytest.mark.parametrize("code", ["organization_on_hold", "no_db_connection"])
def test_a_provider_or_gateway_that_cannot_work_is_told_to_the_operator(code: str) -> None:
    assert judged(400, error(code, "x")).notice


@pytest.mark.parametrize(
    ("name", "value", "failure"),
    [
        ("x-amzn-ErrorType", "ThrottlingException", P),
        ("x-amzn-errortype", "billing_error", BILL),
        (":exception-type", "team_spend_limit_reached", BILL),
        ("x-other", "billing_error", T),
    ],
)
def test_a_header_that_names_the_error_is_a_code(
    name: str, value: str, failure: FailureClass
) -> None:
    assert judged(400, None, {name: value}).failure is failure


@pytest.mark.parametrize(
    ("said", "wait_s"),
    [
        ("retry after 1.5 s", 1.5),
        ("wait for 2 min", 120),
        ("try again in 3 m", 180),
        ("retry in 7 milliseconds", 0.007),
        ("retry your request in 8 sec", 8),
        ("try again in 3s and retry in 4s", 4),
        ("try again in 5 hours", None),
    ],
)
def test_a_wait_in_words_has_its_unit(said: str, wait_s: float | None) -> None:
    assert judged(429, error("x", said)).retry_after_s == wait_s


def test_where_the_gateway_has_nothing_to_answer_with_a_hint_counts_too() -> None:
    verdict = judged(429, "No deployments available. Try again in 30 seconds")
    assert (verdict.failure, verdict.retry_after_s) == (G, 30)


@pytest.mark.parametrize(
    "headers",
    [
        {"retry-after": "Wed, 21 Oct 2026 07:28:00", "date": "Wed, 21 Oct 2026 07:27:00 GMT"},
        {"retry-after": "Wed, 21 Oct 2026 07:28:00 GMT"},
    ],
)
def test_a_date_counts_only_beside_another_in_a_known_zone(headers: dict[str, str]) -> None:
    assert judged(429, None, headers).retry_after_s is None


STOPPED = '{"type":"message_stop"} "stop_reason": "end_turn"'


@pytest.mark.parametrize(
    ("body", "status", "headers", "category"),
    [
        (STOPPED, 200, {}, "none"),
        (STOPPED, 399, {}, "none"),
        (STOPPED, 400, {}, "bad_request"),
        (STOPPED, None, {}, "5xx"),
        (STOPPED, 200, {"x-Exception-Type": "throttling"}, "rate_limit"),
        ('{"type":"message_stop"}', 200, {}, "stream_cut"),
        ('{"type":"message_stop"} "stop_reason":null', 200, {}, "stream_cut"),
        ('{"type":"x"} "stop_reason": "end_turn"', 200, {}, "stream_cut"),
        ('{"type":"error","error":{"type":"overloaded_error"}}', 200, {}, "overloaded"),
    ],
)
def test_a_stream_is_whole_once_it_said_why_it_stopped(
    body: str, status: int | None, headers: dict[str, str], category: str
) -> None:
    answer = Answer(status=status, body=body, headers=headers)
    assert of_stream(answer).category.value == category


def test_error_words_in_a_good_reply_are_what_it_talks_about() -> None:
    quoting = {"type": "text", "text": "it said: credit balance is too low"}
    assert message("end_turn", quoting).category is Category.ECHO
    silent: dict[str, Any] = {"type": "text", "text": None}
    assert message("end_turn", silent, CALL).category is Category.GOOD


@pytest.mark.parametrize(
    ("value", "heard"),
    [(503, [503]), ("503", [503]), (99, []), (600, []), ("0503", []), (True, []), ([5], [])],
)
def test_a_status_has_three_digits(value: object, heard: list[int]) -> None:
    assert hear({"status": value}).statuses == heard


def test_waits_sentences_and_codes_are_kept_apart_and_ids_are_not_heard() -> None:
    body = {
        "retry_after": "12", "x": {"retryDelay": "3.5s"}, "id": "no", "param": "no",
        "message": ["a", {"b": " c ", "reason": " Big "}],
    }  # fmt: skip
    heard = hear(body)
    assert (heard.waits, heard.words, heard.codes) == ([12, 3.5], ["a", "c"], ["big"])


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        *((name, "code") for name in ("code", "type", "error_code", "status", "__type")),
        *((name, "code") for name in ("error_name", "reason", "ErrorType")),
        *((name, "word") for name in ("message", "detail", "status_code")),
        *((name, "none") for name in ("request_id", "id", "param", "ray_id", "model", "user_id")),
    ],
)
def test_a_field_is_a_code_a_sentence_or_nothing_by_its_name(name: str, kind: str) -> None:
    heard = hear({name: "overloaded"})
    assert heard.codes == (["overloaded"] if kind == "code" else [])
    assert heard.words == (["overloaded"] if kind == "word" else [])


@pytest.mark.parametrize("name", ["code", "status", "error_code", "status_code"])
def test_a_status_stands_in_its_own_fields(name: str) -> None:
    assert hear({name: 503}).statuses == [503]
    assert hear({"reason": 503}).statuses == []


@pytest.mark.parametrize("name", ["retry_after", "retryafter", "retryDelay", "retry_delay"])
def test_a_wait_stands_in_its_own_fields(name: str) -> None:
    assert hear({name: 7}).waits == [7]
    assert hear({name: 1e9}).waits == hear({name: -1e9}).waits == []
    assert hear({"delay": 7}).waits == []


def test_a_code_is_cut_at_two_hundred_characters() -> None:
    assert hear({"code": "x" * 300}).codes == ["x" * 200]


def test_a_body_is_walked_within_bounds() -> None:
    assert hear([["x"]] * 6_000).nodes == 5_000
    assert hear("[ " * 19 + '{"code":402}').statuses == [402]
    assert hear("[ " * 20 + '{"code":402}').statuses == []
