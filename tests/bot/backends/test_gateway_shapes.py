"""Errors in the shapes of many providers and gateways: each lands in its class by rule."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from bot.cli.try_error import run_error

Json = dict[str, Any]
T, P = "terminal", "transient"
BILL, G, M, GOOD = "operator_action_required", "operational", "bad_model_alias_fallback", "none"


def e(type_: str, message: str) -> Json:
    return {"type": "error", "error": {"type": type_, "message": message}}


def o(message: str, type_: str | None = None, code: object = None, **more: Any) -> Json:
    return {"error": {"message": message, "type": type_, "param": None, "code": code, **more}}


def aws(name: str) -> dict[str, str]:
    return {"x-amzn-errortype": name}


def google(code: int, status: str, message: str) -> list[Json]:
    return [{"error": {"code": code, "message": message, "status": status}}]


def told(kind: str, status: int | None, body: object, headers: Mapping[str, str]) -> list[str]:
    row = {"kind": kind, "status": status, "headers": dict(headers), "body": body}
    (said,) = map(json.loads, run_error([json.dumps(row)]))
    return [said["class"], said["category"]]


@pytest.mark.proves("S3-111", "S3-112", "S3-115", "S3-118", "S3-119")
@pytest.mark.parametrize(
    ("status", "body", "headers", "wanted"),
    [
        (500, e("api_error", "Overloaded"), {}, [P, "overloaded"]),
        (503, o("That model is currently overloaded.", "server_error"), {}, [P, "overloaded"]),
        (503, "no healthy upstream", {}, [P, "5xx"]),
        (521, "error code: 521", {}, [P, "5xx"]),
        (413, "<html><title>413 Request Entity Too Large</title></html>", {}, [T, "too_large"]),
        (400, o("Too long.", "x", "context_length_exceeded"), {}, [T, "too_long"]),
        (400, e("invalid_request_error", "model: Field required"), {}, [T, "bad_request"]),
        (400, e("x", "model: String should have at least 1 character"), {}, [T, "bad_request"]),
        (404, e("x", "model: claude-x. Did you mean claude-y?"), {}, [M, "model"]),
        (404, o("No allowed providers are available for the selected model."), {}, [M, "model"]),
        (404, {"error": {"code": "DeploymentNotFound", "message": "?"}}, {}, [M, "model"]),
        (400, o("The model `x` is gone.", "x", "model_decommissioned"), {}, [M, "model"]),
        (404, o("Not found the model kimi-9", "resource_not_found_error"), {}, [M, "model"]),
        (404, {"message": "Could not resolve the foundation model."}, {}, [M, "model"]),
        (404, {"message": "This Model is marked by provider as Legacy"}, {}, [M, "model"]),
        (400, {"message": "claude-x is not available in your region"}, {}, [M, "model"]),
        (400, o("LLM Provider NOT provided. You passed model=x", "x"), {}, [M, "model"]),
        (403, {"message": "You don't have access to the model"}, aws("AccessDenied"), [T, "auth"]),
        (403, {"message": "The security token is expired"}, aws("ExpiredToken"), [T, "auth"]),
        (424, {"message": "Try again."}, aws("ModelErrorException"), [P, "5xx"]),
        (429, {"message": "Not ready"}, aws("ModelNotReadyException"), [P, "rate_limit"]),
        (400, {"message": "Over."}, aws("ServiceQuotaExceededException"), [P, "rate_limit"]),
        (429, {"message": "Too many tokens, please wait"}, {}, [P, "rate_limit"]),
        (429, {"message": "Too many tokens per day, please wait"}, {}, [G, "capacity"]),
        (429, google(429, "RESOURCE_EXHAUSTED", "Try later"), {}, [P, "rate_limit"]),
        (504, google(504, "DEADLINE_EXCEEDED", "Too late"), {}, [P, "timeout"]),
        (499, google(499, "CANCELLED", "Cancelled"), {}, [P, "5xx"]),
        (403, google(403, "PERMISSION_DENIED", "Permission denied on it"), {}, [T, "auth"]),
        (403, google(403, "X", "This API requires billing to be enabled"), {}, [BILL, "billing"]),
        (400, google(400, "INVALID_ARGUMENT", "API key not valid."), {}, [T, "auth"]),
        (400, google(400, "X", "User location is not supported"), {}, [T, "auth"]),
        (401, o("Incorrect API key provided", "x", "invalid_api_key"), {}, [T, "auth"]),
        (429, o("9 a day (RPD)", "x", "rate_limit_exceeded"), {}, [P, "rate_limit"]),
        (429, o("Account not active", "billing_not_active"), {}, [BILL, "billing"]),
        (403, o("Key limit exceeded (total limit)", None, 403), {}, [BILL, "billing"]),
        (429, e("rate_limit_error", "Exceeded your monthly spend limit"), {}, [BILL, "billing"]),
        (429, e("x", "Extra usage is required for long requests."), {}, [BILL, "billing"]),
        (400, {"code": "Arrearage", "message": "Access denied"}, {}, [BILL, "billing"]),
        (429, o("Suspended", "exceeded_current_quota_error"), {}, [BILL, "billing"]),
        (403, {"message": "INVALID_PAYMENT_INSTRUMENT"}, {}, [BILL, "billing"]),
        (412, {"message": "Usage limit exceeded for the API key"}, {}, [BILL, "billing"]),
        (401, o("ExceededTokenBudget: spend 2, max 1", "auth_error", "401"), {}, [BILL, "budget"]),
        (429, o("Crossed spend in team", "budget_exceeded", 429), {}, [BILL, "budget"]),
        (401, o("key not allowed to access model", "key_model_access_denied"), {}, [T, "auth"]),
        (503, "No deployments available for selected model", {}, [G, "capacity"]),
        (446, o("The guardrail checks failed.", "hooks_failed"), {}, [T, "content_filter"]),
        (403, o("Your input was flagged", None, 403), {}, [T, "content_filter"]),
        (407, "<html>Proxy Authentication Required</html>", {}, [T, "auth"]),
        (422, {"detail": [{"loc": ["body"], "msg": "field required"}]}, {}, [T, "bad_request"]),
        (
            502,
            o("Provider returned error", metadata={"raw": json.dumps(e("overloaded_error", "x"))}),
            {},
            [P, "overloaded"],
        ),
        (
            400,
            o("Provider error", metadata={"raw": json.dumps(e("x", "credit balance is too low"))}),
            {},
            [BILL, "billing"],
        ),
        (200, {"error": {"message": "x", "type": "invalid_request_error"}}, {}, [T, "bad_request"]),
        (200, '{"type":"message","content":[{"text":"tru', {}, [P, "html_200"]),
    ],
)  # fmt: skip
def test_a_refusal_of_any_gateway_lands_in_its_class(
    status: int, body: object, headers: dict[str, str], wanted: list[str]
) -> None:
    assert told("http", status, body, headers) == wanted


@pytest.mark.parametrize(
    ("said", "category"),
    [
        ("[Errno -3] Temporary failure in name resolution", "unreachable"),
        ("[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed", "unreachable"),
        ("All connection attempts failed", "unreachable"),
        ("ConnectTimeout", "timeout"),
        ("ReadTimeout: The read operation timed out", "timeout"),
        ("Server disconnected without sending a response.", "stream_cut"),
        ("Expecting value: line 1 column 1 (char 0)", "unclassified"),
    ],
)
def test_what_breaks_on_the_way_is_transient(said: str, category: str) -> None:
    assert told("transport", None, said, {}) == [P, category]


def events(*each: Json) -> str:
    return "".join(f"event: {one['type']}\ndata: {json.dumps(one)}\n\n" for one in each)


START = {"type": "message_start", "message": {"stop_reason": None}}
STOP = {"type": "message_stop"}


@pytest.mark.parametrize(
    ("stream", "headers", "wanted"),
    [
        (events(START, {"type": "message_delta", "delta": {"stop_reason": "end_turn"}}, STOP), {},
         [GOOD, "none"]),
        (events(START, {"type": "message_delta", "delta": {"stop_reason": None}}, STOP), {},
         [P, "stream_cut"]),
        (events(START), {}, [P, "stream_cut"]),
        ("", {}, [P, "stream_cut"]),
        (events(e("billing_error", "x")), {}, [BILL, "billing"]),
        (events(e("timeout_error", "x")), {}, [P, "timeout"]),
        ('{"message": "Too many requests"}', {":exception-type": "throttlingException"},
         [P, "rate_limit"]),
    ],
)  # fmt: skip
def test_a_stream_counts_only_when_it_says_why_it_stopped(
    stream: str, headers: dict[str, str], wanted: list[str]
) -> None:
    assert told("sse", 200, stream, headers) == wanted
