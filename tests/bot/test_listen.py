"""Steps of a session become counters, under closed words."""

import pytest

from bot.backends.failing.verdict import Category
from bot.listen import ERROR_KIND, SessionCounter
from bot.telemetry import ERROR_KINDS, Telemetry
from engine.model.event import SessionEvent
from tests.engine.judged import a_run


def value(telemetry: Telemetry, name: str, **labels: str) -> float | None:
    return telemetry.registry.get_sample_value(f"caveat_{name}", labels)


@pytest.mark.proves("S3-126")
@pytest.mark.parametrize(
    ("said", "kind"),
    [("billing", "balance"), ("model", "unknown_model"), ("what nobody knows", "unclassified")],
)
async def test_a_failed_call_is_counted_by_what_the_provider_did(said: str, kind: str) -> None:
    telemetry = Telemetry()
    counted = {"provider": "anthropic", "kind": kind}
    assert value(telemetry, "triage_llm_error_total", **counted) == 0
    call = {"call": "conclude", "provider": "anthropic", "basis": "estimated"}
    facts = {**call, "result": "failed", "error_kind": said, "echo": True}
    await SessionCounter(telemetry)(a_run(), SessionEvent.CALL, facts)
    assert value(telemetry, "triage_llm_error_total", **counted) == 1
    assert value(telemetry, "triage_marker_echo_total") == 1


def test_every_kind_of_error_has_a_word_that_is_counted() -> None:
    assert set(ERROR_KIND.values()) <= set(ERROR_KINDS)
    uncounted = {Category.SDK_CODE, Category.PAUSE, Category.POISON, Category.GOOD}
    assert set(Category) - set(ERROR_KIND) == uncounted | {Category.UNCLASSIFIED}


@pytest.mark.proves("S3-124", "S3-125")
@pytest.mark.parametrize(
    ("bound", "counter"),
    [
        ("tokens", "triage_token_budget_exceeded_total"),
        ("deadline", "triage_timeout_total"),
        ("loops", "triage_loop_limit_total"),
        ("budget", "triage_day_budget_reached_total"),
    ],
)
async def test_how_far_a_model_looked_and_what_stopped_it_is_counted(
    bound: str, counter: str
) -> None:
    telemetry = Telemetry()
    facts = {"loops": 7, "tokens": 900, "seconds": 12.5, "bound": bound, "stage": "loop"}
    assert value(telemetry, counter, stage="loop") == 0
    await SessionCounter(telemetry)(a_run(), SessionEvent.LOOP, facts)
    assert value(telemetry, counter, stage="loop") == 1
    assert value(telemetry, "triage_investigation_loops_sum", path="full") == 7
    assert value(telemetry, "triage_duration_seconds_sum", stage="loop") == 12.5


async def test_a_look_that_was_stopped_by_hand_trips_no_bound() -> None:
    telemetry = Telemetry()
    facts = {"loops": 1, "tokens": 9, "seconds": 1.0, "bound": "stopped", "stage": "loop"}
    await SessionCounter(telemetry)(a_run(), SessionEvent.LOOP, facts)
    for counter in ("triage_timeout_total", "triage_loop_limit_total"):
        assert value(telemetry, counter, stage="loop") == 0


async def test_tools_asked_are_counted_by_how_they_ended() -> None:
    telemetry = Telemetry()
    facts = {"tool": "logs", "outcome": "empty"}
    await SessionCounter(telemetry)(a_run(), SessionEvent.TOOL, facts)
    assert value(telemetry, "triage_tool_calls_total", tool="logs", outcome="empty") == 1


async def test_why_nobody_looks_a_second_time_is_counted() -> None:
    telemetry = Telemetry()
    facts = {"skipped": "above_threshold"}
    await SessionCounter(telemetry)(a_run(), SessionEvent.RECHECK, facts)
    assert value(telemetry, "recheck_skipped_total", reason="above_threshold") == 1
