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
    assert value(telemetry, "triage_llm_error_total", kind=kind) == 0
    facts = {"call": "conclude", "result": "failed", "kind": said, "echo": True}
    await SessionCounter(telemetry)(a_run(), SessionEvent.CALL, facts)
    assert value(telemetry, "triage_llm_error_total", kind=kind) == 1
    assert value(telemetry, "triage_marker_echo_total") == 1


def test_every_kind_of_error_has_a_word_that_is_counted() -> None:
    assert set(ERROR_KIND.values()) <= set(ERROR_KINDS)
    uncounted = {Category.SDK_CODE, Category.PAUSE, Category.POISON, Category.GOOD}
    assert set(Category) - set(ERROR_KIND) == uncounted | {Category.UNCLASSIFIED}
