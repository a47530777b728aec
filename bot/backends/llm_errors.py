"""Which class a provider's error is: its codes and types first, then its own words, then status."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from engine.errors import (
    EngineError,
    OperationalError,
    OperatorActionRequiredError,
    TerminalError,
    TimedOutError,
    TransientError,
    UnknownModelError,
)

DEEPEST: Final = 6
LONGEST: Final = 20_000
SHOWN: Final = 300

Class = type[EngineError]

_CODES: Mapping[str, Class] = {
    "enforced_spend_limit_reached": OperatorActionRequiredError,
    "contract_spend_limit_reached": OperatorActionRequiredError,
    "linked_organization_spend_limit_reached": OperatorActionRequiredError,
    "linked_organization_billing_unavailable": OperatorActionRequiredError,
    "cmek_context_unavailable": OperationalError,
    "ramp_limit_exceeded": TransientError,
    "organization_on_hold": TerminalError,
}
_MONEY_TYPES = re.compile(
    r"billing_error|budget_exceeded|insufficient_quota|insufficient_credits"
    r"|credit_balance_exhausted|\w*_spend_limit_exceeded"
)
_MONEY_WORDS = re.compile(
    r"credit balance is too low|plans? (?:&|and) billing|budget has been exceeded"
    r"|exceeded ?budget|crossed budget|over budget|insufficient[ _]balance"
    r"|reached your specified (?:\w+ )?api usage limits|(?:key|limit) with a higher (?:\w+ )?limit"
    r"|more credits are required|\w+_spend_limit_reached|monthly api usage threshold"
    r"|marketplace subscription|aws-marketplace:",
    re.IGNORECASE,
)
_GATEWAY = re.compile(
    r"no_db_connection|no connected db|no deployments available|too many tokens per day",
    re.IGNORECASE,
)
_NO_MODEL = re.compile(
    r"^model: \S+|invalid model name|no 'model_name' with this|is not a valid model id"
    r"|model identifier is invalid|invocation of model id .{1,200} isn.t supported"
    r"|publisher model .{1,200} (?:was )?not found|unknown model|model .{1,120} does not exist",
    re.IGNORECASE,
)
_BUSY_TYPES = re.compile(
    r"overloaded|rate_limit|timeout|resource_exhausted|throttl|serviceunavailable|too_many_requests",
    re.IGNORECASE,
)
_BUSY_STATUS: Final = frozenset({408, 409, 425, 429})
_OURS = re.compile(r"^(?:messages|tools|system)[.\[]")
_HINT = re.compile(r"(?:try again|retry) in (\d{1,6}(?:\.\d+)?) ?s", re.IGNORECASE)


@dataclass
class _Heard:
    """What an error's body holds, however it is wrapped."""

    codes: list[str] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    statuses: list[int] = field(default_factory=list)
    hints: list[float] = field(default_factory=list)


def classify(
    status: int | None, body: object, headers: Mapping[str, str], sent: str
) -> EngineError:
    """Bring an error into the engine's class, with the provider's words and hint.

    Args:
        status: of the response; None when there was none.
        body: decoded JSON, or text.
        headers: of the response.
        sent: the request's text; words that stand in it too decide nothing.
    """
    heard = _Heard()
    _listen(body, heard, 0)
    types = [*heard.codes, *(v for k, v in headers.items() if k.lower().endswith("exception-type"))]
    said = [w for w in heard.words if not _OURS.match(w)]
    found = _by_code(types, [*heard.statuses, status or 0]) or _by_words(types, said, sent)
    kind = found or _by_status(types, status, heard.statuses)
    detail = " ".join(heard.words)[:SHOWN] or f"status {status}"
    return kind(detail, retry_after_s=_hint(headers, heard))


def _by_code(codes: list[str], statuses: list[int]) -> Class | None:
    for code in codes:
        if code in _CODES:
            return _CODES[code]
    money = any(_MONEY_TYPES.fullmatch(code) for code in codes)
    return OperatorActionRequiredError if money or 402 in statuses else None  # noqa: PLR2004


def _by_words(codes: list[str], said: list[str], sent: str) -> Class | None:
    """Look for markers in what the provider wrote itself; one that we sent too is an echo."""
    for pattern, kind in (
        (_MONEY_WORDS, OperatorActionRequiredError),
        (_GATEWAY, OperationalError),
        (_NO_MODEL, UnknownModelError),
    ):
        for words in (*said, *codes):
            match = pattern.search(words)
            if match and match[0].lower() not in sent.lower():
                return kind
    return None


def _by_status(codes: list[str], status: int | None, inner: list[int]) -> Class:
    if any("timeout" in code for code in codes) or 504 in inner or status == 504:  # noqa: PLR2004
        return TimedOutError
    if any(_BUSY_TYPES.search(code) for code in codes):
        return TransientError
    known = status or next(iter(inner), None)
    if known is None or known in _BUSY_STATUS or known >= 500 or known < 400:  # noqa: PLR2004
        return TransientError
    return TerminalError


def _listen(node: object, heard: _Heard, depth: int) -> None:
    """Walk a body; JSON inside text is walked too, a few levels deep."""
    if depth > DEEPEST:
        return
    match node:
        case dict():
            for name, value in node.items():
                _named(str(name), value, heard, depth)
        case list():
            for value in node:
                _listen(value, heard, depth + 1)
        case str():
            heard.words.append(node[:LONGEST].strip())
            for inner in _inside(node[:LONGEST]):
                _listen(inner, heard, depth + 1)
        case _:
            pass


def _named(name: str, value: Any, heard: _Heard, depth: int) -> None:
    if name in {"code", "type", "error_code", "status"} and isinstance(value, str):
        if value.isdigit():
            heard.statuses.append(int(value))
        else:
            heard.codes.append(value.lower())
    elif name in {"code", "status"} and isinstance(value, int):
        heard.statuses.append(value)
    elif name == "retry_after" and isinstance(value, int | float):
        heard.hints.append(float(value))
    elif name in {"request_id", "id", "param"}:
        return
    else:
        _listen(value, heard, depth + 1)


def _inside(text: str) -> Iterator[object]:
    """Find the JSON object a gateway quoted in its own sentence."""
    start = text.find("{")
    if start < 0:
        return
    try:
        yield json.JSONDecoder().raw_decode(text, start)[0]
    except (ValueError, RecursionError):
        return


def _hint(headers: Mapping[str, str], heard: _Heard) -> float | None:
    """Give the longest wait the provider asked for, in seconds; the engine bounds it."""
    plain = {name.lower(): value for name, value in headers.items()}
    hints = list(heard.hints)
    for name, scale in (("retry-after", 1.0), ("retry-after-ms", 0.001)):
        value = plain.get(name, "")
        if re.fullmatch(r"\d{1,9}(?:\.\d{1,6})?", value):
            hints.append(float(value) * scale)
    hints += [float(found) for words in heard.words for found in _HINT.findall(words)]
    return max(hints, default=None)
