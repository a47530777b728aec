"""What follows a failure, and what keeps a model from being asked."""

import math
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.budget import day_start, exhausted
from engine.errors import (
    EngineError,
    OperationalError,
    OperatorActionRequiredError,
    TerminalError,
    TimedOutError,
    TransientError,
    UnknownModelError,
    UnusableReplyError,
)
from engine.failures import Dead, RetryAt, failure_class, hinted_s, next_step
from engine.gate import GateFacts, gate
from engine.model.alert import AlertClass, Severity
from engine.model.org import Flags, RoomTriage
from engine.model.policy import Budget, TriageRule
from engine.model.run import FailureClass, RunTrigger, SkipReason
from engine.ports import DeadReason
from storage.calls import SpentToday
from tests.engine.judged import incident

NOW = datetime(2026, 11, 30, 3, 2, tzinfo=UTC)
RULE = TriageRule()


def wait_s(error: EngineError, delivery: int) -> float:
    step = next_step(error, delivery, NOW, RULE)
    assert isinstance(step, RetryAt)
    return (step.at - NOW).total_seconds()


@pytest.mark.proves("S3-113", "S3-114")
def test_transient_waits_grow_by_fifteen_seconds_to_five_minutes_for_two_hours() -> None:
    waits = [wait_s(TransientError(), delivery) for delivery in range(1, 35)]
    assert waits[:3] == [15, 30, 45]
    assert max(waits) == 300
    assert sum(waits) == 7350
    assert next_step(TransientError(), 35, NOW, RULE) == Dead(reason=DeadReason.TRANSIENT_EXHAUSTED)


@pytest.mark.proves("S3-111", "S3-112", "S3-115", "S3-118")
@pytest.mark.parametrize(
    ("error", "first", "class_"),
    [
        (TerminalError(), DeadReason.TERMINAL, FailureClass.TERMINAL),
        (
            OperatorActionRequiredError(),
            DeadReason.OPERATOR_ACTION_REQUIRED,
            FailureClass.OPERATOR_ACTION_REQUIRED,
        ),
        (UnknownModelError(), DeadReason.TERMINAL, FailureClass.BAD_MODEL_ALIAS_FALLBACK),
        (TransientError(), 15, FailureClass.TRANSIENT),
        (TimedOutError(), 15, FailureClass.TRANSIENT),
        (UnusableReplyError(), 15, FailureClass.TRANSIENT),
        (EngineError(), 15, FailureClass.TRANSIENT),
        (OperationalError(), 300, FailureClass.OPERATIONAL),
    ],
)
def test_what_follows_the_first_failure(
    error: EngineError, first: DeadReason | int, class_: FailureClass
) -> None:
    step = next_step(error, 1, NOW, RULE)
    expected = (
        Dead(reason=first)
        if isinstance(first, DeadReason)
        else RetryAt(at=NOW + timedelta(seconds=first))
    )
    assert step == expected
    assert failure_class(error) is class_


def test_operational_failures_wait_flat_and_count_toward_the_thirty_five() -> None:
    assert {wait_s(OperationalError(), n) for n in (1, 10, 34)} == {300}
    assert isinstance(next_step(OperationalError(), 35, NOW, RULE), Dead)


@pytest.mark.parametrize(
    ("hint_s", "waited"),
    [(0, 15), (-5, 15), (math.inf, 15), (math.nan, 15), (3, 15), (17, 17), (9999, 900), (None, 15)],
)
def test_a_hint_may_only_lengthen_a_wait_and_no_more_than_to_fifteen_minutes(
    hint_s: float | None, waited: float
) -> None:
    assert wait_s(TransientError(retry_after_s=hint_s), 1) == waited


@pytest.mark.parametrize(
    ("hint_s", "read_s"), [(None, 0), (-1, 0), (0, 0), (0.5, 0.5), (900, 900), (901, 900)]
)
def test_a_hint_is_read_as_seconds_within_bounds(hint_s: float | None, read_s: float) -> None:
    assert hinted_s(hint_s) == read_s


@given(delivery=st.integers(-5, 60), hint=st.none() | st.floats())
def test_every_wait_is_bounded(delivery: int, hint: float | None) -> None:
    step = next_step(TransientError(retry_after_s=hint), delivery, NOW, RULE)
    if isinstance(step, RetryAt):
        assert 15 <= (step.at - NOW).total_seconds() <= 900


ON = Flags(ai_triage=True)


def facts(**changes: Any) -> GateFacts:
    usual = {
        "flags": ON,
        "rooms": (RoomTriage.CRITICAL,),
        "trigger": RunTrigger.AUTO,
        "model_configured": True,
        "storm_waiting": 50,
    }
    return GateFacts(**{**usual, **changes})


@pytest.mark.proves("S3-28")
@pytest.mark.parametrize(
    ("changes", "case", "reason"),
    [
        ({}, {}, None),
        ({"flags": None}, {}, SkipReason.FLAG_OFF),
        ({"flags": Flags()}, {}, SkipReason.FLAG_OFF),
        ({"flags": Flags(), "trigger": RunTrigger.MANUAL}, {}, SkipReason.FLAG_OFF),
        ({"flags": Flags(), "trigger": RunTrigger.ENGAGE}, {}, SkipReason.FLAG_OFF),
        ({"flags": Flags(ai_triage=True, ai_triage_manual=True)}, {}, SkipReason.MANUAL),
        (
            {
                "flags": Flags(ai_triage=True, ai_triage_manual=True),
                "trigger": RunTrigger.MANUAL,
            },
            {},
            None,
        ),
        ({}, {"first_contact": True}, SkipReason.FIRST_CONTACT),
        ({"trigger": RunTrigger.MANUAL}, {"first_contact": True}, None),
        ({}, {"alert_class": AlertClass.PREDICTIVE}, SkipReason.CLASS),
        ({}, {"alert_class": AlertClass.MONITORING_GAP}, SkipReason.CLASS),
        ({"chronic_quiet": True}, {}, SkipReason.CHRONIC_QUIET),
        ({"chronic_quiet": True, "trigger": RunTrigger.MANUAL}, {}, None),
        ({}, {"severity": Severity.HIGH}, None),
        ({}, {"severity": Severity.WARNING}, SkipReason.SEVERITY),
        ({"rooms": (RoomTriage.WARNING,)}, {"severity": Severity.WARNING}, None),
        ({"rooms": (RoomTriage.WARNING,)}, {"severity": Severity.INFO}, SkipReason.SEVERITY),
        ({"rooms": (RoomTriage.OFF, RoomTriage.CRITICAL)}, {}, None),
        ({"rooms": (RoomTriage.OFF,)}, {}, SkipReason.SEVERITY),
        ({"rooms": ()}, {}, SkipReason.SEVERITY),
        ({"rooms": (), "trigger": RunTrigger.MANUAL}, {}, None),
        ({"waiting": 50}, {}, SkipReason.STORM),
        ({"waiting": 49}, {}, None),
        ({"model_configured": False}, {}, SkipReason.NO_MODEL),
        ({"breaker_open": True}, {}, SkipReason.BREAKER_OPEN),
        ({"budget_spent": True}, {}, SkipReason.BUDGET),
        ({"budget_spent": True, "trigger": RunTrigger.MANUAL}, {}, SkipReason.BUDGET),
        ({"breaker_open": True, "trigger": RunTrigger.ENGAGE}, {}, SkipReason.BREAKER_OPEN),
    ],
)
def test_the_gate(changes: dict[str, Any], case: dict[str, Any], reason: SkipReason | None) -> None:
    assert gate(incident().model_copy(update=case), facts(**changes)) is reason


@pytest.mark.parametrize(
    ("usd", "tokens", "out"),
    [(0, 0, False), (4.99, 0, False), (5.0, 0, True), (0, 2_000_000, True), (0, 1_999_999, False)],
)
def test_a_budget_is_spent_when_it_is_reached(usd: float, tokens: int, *, out: bool) -> None:
    assert exhausted(SpentToday(usd=usd, tokens=tokens), Budget()) is out


def test_the_day_of_a_budget_begins_at_midnight_utc() -> None:
    assert day_start(datetime.fromisoformat("2026-11-30T01:30:00+02:00")).isoformat() == (
        "2026-11-29T00:00:00+00:00"
    )
