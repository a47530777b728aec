"""The judgement's own call: lost, unreadable or late, it costs no draft."""

from typing import Any

import pytest

from engine.errors import TerminalError, TimedOutError, TransientError
from engine.model.event import SessionEvent
from engine.model.finding import VerifyStatus
from engine.model.llm import StopReason
from engine.model.policy import TriageRule
from tests.engine.judged import UP, Table, drafted, ruled
from tests.fakes import FakeMetrics, ScriptedLLM, said


def judged(*replies: Any, **more: Any) -> Table:
    return Table(ScriptedLLM([drafted(), *replies]), metrics=FakeMetrics(UP), **more)


@pytest.mark.parametrize("error", [TransientError("busy"), TerminalError("refused")])
def test_a_judgement_that_is_lost_leaves_the_draft_as_it_was(error: Exception) -> None:
    table = judged(error)
    finding = table.triage()
    assert finding.verify_status is VerifyStatus.ERRORED
    assert finding.root_cause is not None
    assert table.of(SessionEvent.UNREADABLE) == []
    assert table.of(SessionEvent.VERIFY_RETRY) == []


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        ("I think it is right.", ""),
        ("[" * 900, ""),
        (said(ruled(), StopReason.MAX_TOKENS), "the reply is cut"),
        (said("", StopReason.END_TURN), "the reply is silent"),
    ],
)
def test_a_judgement_nobody_can_read_is_told_and_leaves_the_draft(reply: Any, why: str) -> None:
    table = judged(reply)
    finding = table.triage()
    assert finding.verify_status is VerifyStatus.ERRORED
    [facts] = map(dict, table.of(SessionEvent.UNREADABLE))
    assert facts["call"] == "verify"
    assert why in facts["why"]
    assert 0 < len(facts["why"]) <= 200
    assert finding.confidence is not None


def test_a_late_judgement_is_asked_for_once_more() -> None:
    table = judged(TimedOutError(), ruled())
    assert table.triage().verify_status is VerifyStatus.VERIFIED
    assert len(table.of(SessionEvent.VERIFY_RETRY)) == 1


def test_one_that_is_late_twice_is_given_up() -> None:
    table = judged(TimedOutError(), TimedOutError(), ruled())
    assert table.triage().verify_status is VerifyStatus.TIMED_OUT
    assert len(table.of(SessionEvent.VERIFY_RETRY)) == 1
    assert len(table.llm.asked) == 3


def test_without_a_retry_the_first_time_out_is_the_last() -> None:
    table = judged(TimedOutError(), ruled(), rule=TriageRule(verify_max_retries=0))
    assert table.triage().verify_status is VerifyStatus.TIMED_OUT
    assert table.of(SessionEvent.VERIFY_RETRY) == []


@pytest.mark.parametrize(("left_s", "asked"), [(1.0, 2), (0.99, 1)])
def test_less_than_a_second_is_no_attempt(left_s: float, asked: int) -> None:
    table = judged(ruled(), rule=TriageRule(verify_deadline=left_s, verify_first_s=left_s))
    table.triage()
    assert len(table.llm.asked) == asked
