"""A provider's error as the engine knows it: its class, its words and its hint."""

from collections.abc import Mapping
from typing import Final

from bot.backends.failing.decide import Answer, decide
from bot.backends.failing.heard import hear
from bot.backends.failing.verdict import Category
from engine.errors import (
    EngineError,
    OperationalError,
    OperatorActionRequiredError,
    TerminalError,
    TimedOutError,
    TransientError,
    UnknownModelError,
)
from engine.model.run import FailureClass

SHOWN: Final = 300

_ERRORS: Mapping[FailureClass, type[EngineError]] = {
    FailureClass.TERMINAL: TerminalError,
    FailureClass.OPERATOR_ACTION_REQUIRED: OperatorActionRequiredError,
    FailureClass.OPERATIONAL: OperationalError,
    FailureClass.BAD_MODEL_ALIAS_FALLBACK: UnknownModelError,
}


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
    verdict = decide(Answer(status=status, body=body, headers=headers, sent=sent))
    detail = " ".join(hear(body).words)[:SHOWN] or f"status {status}"
    kind = TransientError if verdict.failure is None else _ERRORS.get(verdict.failure)
    if kind is None:
        kind = TimedOutError if verdict.category is Category.TIMEOUT else TransientError
    return kind(detail, retry_after_s=verdict.retry_after_s)
