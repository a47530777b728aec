"""A provider's error as the engine knows it: its class, its words and its hint."""

from collections.abc import Mapping
from typing import Final

from bot.backends.failing.categories import of_outage
from bot.backends.failing.decide import Answer, decide
from bot.backends.failing.heard import hear
from bot.backends.failing.verdict import Category, InCall
from engine.errors import (
    EngineError,
    OperationalError,
    OperatorActionRequiredError,
    PackTooLongError,
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
    error = TransientError if verdict.failure is None else _ERRORS.get(verdict.failure)
    if error is None:
        error = TimedOutError if verdict.category is Category.TIMEOUT else TransientError
    if error is TerminalError and verdict.in_call is InCall.SHRINK_PACK:
        error = PackTooLongError
    return error(
        detail,
        retry_after_s=verdict.retry_after_s,
        kind=verdict.category.value,
        tells=verdict.notice,
        echo=verdict.echo,
    )


def broken(error: BaseException) -> EngineError:
    """Bring what broke on the way into the engine's class: it passes by itself."""
    cause = error.__cause__ or error
    said = f"{type(cause).__name__} {cause}"[:SHOWN].strip()
    category = of_outage((), (), (said,))
    late = TimedOutError if category is Category.TIMEOUT else TransientError
    return late(said, kind=category.value)
