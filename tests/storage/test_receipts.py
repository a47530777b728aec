"""What a finding cost, from its calls to the words under its card."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from cards.render.plain import line as flat
from cards.render.plain import section as shown
from cards.thread import evidence, receipt_line
from engine.errors import UnknownModelError
from engine.model.run import CallKind, CallState, ModelCall, Usage
from storage.cases import receipt_of
from tests.cards.cases import VERIFIED, found

AT = datetime(2026, 11, 30, 3, 2, tzinfo=UTC)


def call(**changes: Any) -> ModelCall:
    usual = {
        "id": "c",
        "client_id": "acme",
        "triage_id": "t",
        "kind": CallKind.CONCLUDE,
        "model": "claude-x",
        "state": CallState.OK,
        "sent_at": AT,
        "usage": Usage(input_tokens=1000, cache_read_input_tokens=500, output_tokens=200),
        "cost_usd": 0.01,
    }
    return ModelCall(**{**usual, **changes})


FAILED = call(state=CallState.FAILED, usage=Usage(), cost_usd=None)
MISTYPED = FAILED.model_copy(update={"model": "claude-y", "error": str(UnknownModelError("no"))})


@pytest.mark.parametrize(
    ("calls", "said"),
    [
        (
            [call(), call()],
            "3,000 tokens in, 1,000 of them cached · 400 out · about $0.0200 · 14 s · claude-x",
        ),
        ([call(), FAILED, call()], "3 model calls ·"),
        ([call(), FAILED], "· about $0.0100 ·"),
        ([call(), call(cost_usd=None)], "· no price known ·"),
        ([call(), call(model="claude-z")], "· claude-x · claude-z"),
    ],
)
def test_a_receipt_says_calls_tokens_cost_seconds_and_model(
    calls: list[ModelCall], said: str
) -> None:
    receipt = receipt_of(calls, AT + timedelta(seconds=14), AT)
    assert said in flat(receipt_line(receipt))


@pytest.mark.proves("S3-119")
def test_the_name_the_provider_did_not_know_is_named_with_the_model_that_answered() -> None:
    receipt = receipt_of([MISTYPED, call()], AT, AT)
    assert (receipt.models, receipt.unknown_models) == (("claude-x",), ("claude-y",))
    case = found(VERIFIED).model_copy(update={"receipt": receipt})
    [told] = [shown(part) for part in evidence(case, AT).sections if part.name == "receipt"]
    assert "the provider knows no model claude-y, asked claude-x instead" in told
