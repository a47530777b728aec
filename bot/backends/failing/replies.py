"""What a response without an error status comes to: a good message, or one that can't be used."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from bot.backends.failing import markers
from bot.backends.failing.decide import Answer, decide
from bot.backends.failing.heard import hear
from bot.backends.failing.verdict import Category, InCall, Verdict
from engine.model.llm import StopReason
from engine.model.run import FailureClass

GOOD = Verdict(failure=None, category=Category.GOOD)
CUT = Verdict(failure=FailureClass.TRANSIENT, category=Category.STREAM_CUT)
EMPTY = Verdict(failure=FailureClass.TRANSIENT, category=Category.EMPTY, in_call=InCall.REASK_ONCE)
UNKNOWN = Verdict(failure=FailureClass.TRANSIENT, category=Category.UNCLASSIFIED)
_TRUNCATED = Verdict(failure=FailureClass.TERMINAL, category=Category.TRUNCATED)
STOPPED: Mapping[str, Verdict] = {
    StopReason.REFUSAL: Verdict(failure=FailureClass.TERMINAL, category=Category.REFUSAL),
    StopReason.MAX_TOKENS: _TRUNCATED.model_copy(update={"in_call": InCall.RAISE_MAX_TOKENS}),
    StopReason.CONTEXT_WINDOW: _TRUNCATED.model_copy(update={"in_call": InCall.SHRINK_PACK}),
    StopReason.PAUSE_TURN: Verdict(
        failure=None, category=Category.PAUSE, in_call=InCall.RESEND_TURN
    ),
}
"""Reasons that decide whatever was said. A tool call that was cut short never runs."""

_STOPS = re.compile(r"stop_reason\W{1,6}(?!null|None)[a-z]")
"""A stream tells why it stopped before its end; one that does not was cut."""


def of_message(answer: Answer) -> Verdict:
    """Judge a response that should be a message."""
    body = answer.body
    if not isinstance(body, dict) or body.get("type") != "message":
        return _no_message(answer)
    said = body.get("content")
    content = [block for block in said if isinstance(block, dict)] if isinstance(said, list) else []
    match body.get("stop_reason"):
        case StopReason.TOOL_USE:
            return _good(content) if _calls(content) else EMPTY
        case StopReason.END_TURN | StopReason.STOP_SEQUENCE:
            return _good(content) if _calls(content) or _text(content).strip() else EMPTY
        case str() as reason:
            return STOPPED.get(reason, UNKNOWN)
        case _:
            return CUT


def of_stream(answer: Answer) -> Verdict:
    """Judge a stream that came to no message: an error told in it, or no end."""
    heard = hear(answer.body)
    failed = any(name.lower().endswith("exception-type") for name in answer.headers)
    failed = failed or answer.status is None or answer.status >= 400  # noqa: PLR2004
    if failed or "error" in heard.codes:
        return decide(answer)
    whole = "message_stop" in heard.codes and _STOPS.search(str(answer.body)) is not None
    return GOOD if whole else CUT


def _no_message(answer: Answer) -> Verdict:
    """Judge a success that is none: an error in its body, a page, a bare text."""
    if isinstance(answer.body, dict) and "error" in answer.body:
        return decide(answer)
    return Verdict(failure=FailureClass.TRANSIENT, category=Category.NO_MESSAGE, notice=True)


def _calls(content: Sequence[Mapping[str, Any]]) -> bool:
    return any(block.get("type") == "tool_use" for block in content)


def _text(content: Sequence[Mapping[str, Any]]) -> str:
    return "".join(str(b.get("text") or "") for b in content if b.get("type") == "text")


def _good(content: Sequence[Mapping[str, Any]]) -> Verdict:
    """Say it is good; error words in it are what the model talks about."""
    text = _text(content)
    quotes = any(pattern.search(text) for pattern, _ in markers.TEXT_RULES)
    return GOOD.model_copy(update={"category": Category.ECHO}) if quotes else GOOD
