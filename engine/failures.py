"""What follows a failed triage: another try at some time, or none."""

import math
from datetime import datetime, timedelta

from engine.errors import (
    EngineError,
    OperationalError,
    OperatorActionRequiredError,
    TerminalError,
    UnknownModelError,
)
from engine.model.base import Frozen
from engine.model.policy import TriageRule
from engine.model.run import FailureClass
from engine.ports import DeadReason

STEP_S = 15
LONGEST_WAIT_S = 300
LONGEST_HINT_S = 900


class RetryAt(Frozen):
    """Another delivery comes."""

    at: datetime


class Dead(Frozen):
    """No delivery comes by itself."""

    reason: DeadReason
    said: str = ""
    """What the provider said."""


def failure_class(error: EngineError) -> FailureClass:
    """Name the class a failure is counted and shown under."""
    match error:
        case OperatorActionRequiredError():
            return FailureClass.OPERATOR_ACTION_REQUIRED
        case UnknownModelError():
            return FailureClass.BAD_MODEL_ALIAS_FALLBACK
        case TerminalError():
            return FailureClass.TERMINAL
        case OperationalError():
            return FailureClass.OPERATIONAL
        case _:
            return FailureClass.TRANSIENT


def next_step(error: EngineError, delivery: int, now: datetime, rule: TriageRule) -> RetryAt | Dead:
    """Decide what follows the failure of delivery number `delivery` (the first is 1).

    An unknown model gets here only after the other model was refused as well: it is terminal.
    """
    match error:
        case OperatorActionRequiredError():
            return Dead(reason=DeadReason.OPERATOR_ACTION_REQUIRED)
        case TerminalError() | UnknownModelError():
            return Dead(reason=DeadReason.TERMINAL)
        case _ if delivery >= rule.max_deliveries:
            return Dead(reason=DeadReason.TRANSIENT_EXHAUSTED)
        case OperationalError():
            wait_s = rule.operational_nak_backoff
        case _:
            wait_s = min(STEP_S * max(1, delivery), LONGEST_WAIT_S)
    return RetryAt(at=now + timedelta(seconds=max(wait_s, hinted_s(error.retry_after_s))))


def hinted_s(hint_s: float | None) -> float:
    """Read a server's hint: it may lengthen a wait up to 15 minutes and never shorten one."""
    if hint_s is None or not math.isfinite(hint_s) or hint_s <= 0:
        return 0
    return min(hint_s, LONGEST_HINT_S)
