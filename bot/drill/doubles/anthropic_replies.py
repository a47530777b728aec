"""What the Messages API may answer, and the ways in which it fails."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from bot.drill.doubles.faults import Answer, Hang, ReplyLost, answer, bad_gateway
from engine.model.base import canonical_json, digest

Json = dict[str, Any]


@dataclass(frozen=True)
class Message:
    """An ordinary answer."""

    content: tuple[Json, ...]
    stop_reason: str | None = "end_turn"
    output_tokens: int | None = None
    """Estimated from the content when None."""


@dataclass(frozen=True)
class ApiError:
    """An error in the API's own envelope."""

    status: int
    type: str
    message: str
    error_code: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)

    def wire(self, request_id: str) -> Json:
        """Say it as the API does."""
        error: Json = {"type": self.type, "message": self.message}
        if self.error_code:
            error["details"] = {"error_code": self.error_code}
        return {"type": "error", "error": error, "request_id": request_id}


@dataclass(frozen=True)
class Late:
    """A reply that takes its time."""

    delay_s: float
    reply: "Reply"


@dataclass(frozen=True)
class Broken:
    """A message that ends in the middle: half its events, or half its bytes when not streamed."""

    message: Message
    after_events: int = 3
    aborts: bool = False
    """Whether the connection is cut; otherwise the stream just ends."""
    error: ApiError | None = None
    """What the stream says before it ends."""


Reply = Message | ApiError | Late | Broken | ReplyLost | Hang | Answer
Answerer = Callable[[Json], Reply]
"""Decides the reply by the request's body."""


def text(said: str, stop_reason: str | None = "end_turn") -> Message:
    """Answer with text."""
    return Message(({"type": "text", "text": said},), stop_reason)


def as_json(value: Any) -> Message:
    """Answer with JSON as text."""
    return text(canonical_json(value))


def calls(*tools: tuple[str, Json], said: str = "") -> Message:
    """Answer by calling tools, each a name and its input; ids follow from both."""
    blocks = [
        {
            "type": "tool_use",
            "id": f"toolu_{digest(f'{index}{name}{canonical_json(given)}', 24)}",
            "name": name,
            "input": given,
        }
        for index, (name, given) in enumerate(tools)
    ]
    spoken = [{"type": "text", "text": said}] if said else []
    return Message((*spoken, *blocks), "tool_use")


def thought(thinking: str) -> Json:
    """Make a thinking block; its signature is the one the double accepts back."""
    return {"type": "thinking", "thinking": thinking, "signature": signature(thinking)}


def signature(thinking: str) -> str:
    """Sign a thinking block."""
    return f"sig-{digest(thinking, 32)}"


def only_thinks(thinking: str = "Let me see.") -> Message:
    """Answer with nothing but thoughts."""
    return Message((thought(thinking),))


def in_order(*replies: Reply) -> Answerer:
    """Give the replies one after another, the last one for ever."""
    left = list(replies)

    def next_reply(_body: Json) -> Reply:
        return left.pop(0) if len(left) > 1 else left[0]

    return next_reply


_BILLING = "Please go to Plans & Billing to upgrade or purchase credits."
_LIMITS = "You have reached your specified API usage limits."
_RETRY = {"retry-after": "17"}

ERRORS: Mapping[str, ApiError] = {
    "credit_balance": ApiError(
        400,
        "invalid_request_error",
        f"Your credit balance is too low to access the Anthropic API. {_BILLING}",
    ),
    "usage_limit": ApiError(
        400,
        "invalid_request_error",
        f"{_LIMITS} You will regain access on 2027-01-01 at 00:00 UTC.",
    ),
    "billing": ApiError(
        402, "billing_error", "There is an issue with your billing or payment information."
    ),
    "spend_limit": ApiError(
        429,
        "rate_limit_error",
        "Your organization has crossed the monthly API usage threshold of its tier.",
        "enforced_spend_limit_reached",
    ),
    "contract_limit": ApiError(
        429,
        "rate_limit_error",
        "Your organization has reached the spend limit of its contract.",
        "contract_spend_limit_reached",
    ),
    "linked_organization": ApiError(
        402,
        "billing_error",
        "The linked organization has reached a spend limit that it set.",
        "linked_organization_spend_limit_reached",
    ),
    "on_hold": ApiError(
        400, "invalid_request_error", "This organization is on hold.", "organization_on_hold"
    ),
    "key": ApiError(401, "authentication_error", "invalid x-api-key"),
    "permission": ApiError(
        403, "permission_error", "Your API key does not have permission to use the model."
    ),
    "unknown_model": ApiError(404, "not_found_error", "model: claude-nobody-1"),
    "too_large": ApiError(413, "request_too_large", "Request exceeds the maximum size"),
    "too_long": ApiError(
        400, "invalid_request_error", "prompt is too long: 215031 tokens > 200000 maximum"
    ),
    "filtered": ApiError(
        400, "invalid_request_error", "Output blocked by content filtering policy"
    ),
    "rate_limit": ApiError(
        429,
        "rate_limit_error",
        "This request would exceed your organization's rate limit of 30,000 input tokens per"
        " minute.",
        headers=_RETRY,
    ),
    "ramp_limit": ApiError(
        429,
        "rate_limit_error",
        "The request would exceed a ramp limit, which caps how fast usage can grow.",
        "ramp_limit_exceeded",
        {"retry-after": "30"},
    ),
    "overloaded": ApiError(
        529, "overloaded_error", "Overloaded", headers={"x-should-retry": "true"}
    ),
    "internal": ApiError(500, "api_error", "Internal server error"),
    "unavailable": ApiError(503, "api_error", "Service temporarily unavailable"),
    "timeout": ApiError(504, "timeout_error", "Request timed out."),
    "encryption": ApiError(
        503,
        "api_error",
        "The workspace's encryption settings could not be read. Retry in a few minutes.",
        "cmek_context_unavailable",
    ),
}  # fmt: skip
"""The API's own errors by what went wrong."""


def _gateway(status: int, message: str, kind: str) -> Answer:
    """Make an error in the envelope of a gateway that speaks OpenAI's dialect."""
    error = {"message": message, "type": kind, "param": None, "code": str(status)}
    return answer(status, {"error": error})


GATEWAY: Mapping[str, Answer] = {
    "bad_gateway": bad_gateway(),
    "sign_in_page": Answer(
        200,
        "<!doctype html><html><head><title>Sign in</title></head><body>SSO</body></html>",
        media_type="text/html",
    ),
    "no_database": _gateway(400, "No connected db.", "no_db_connection"),
    "over_budget": _gateway(
        429, "Budget has been exceeded! Current cost: 10.2, Max budget: 10.0", "budget_exceeded"
    ),
    "no_deployments": _gateway(
        429, "No deployments available for selected model, Try again in 5 seconds.", "None"
    ),
}
"""What proxies in front of the API answer."""
