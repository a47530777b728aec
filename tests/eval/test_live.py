"""Recorded failures through the real pipeline, and never a cent past the limit."""

import itertools
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bot.backends.anthropic import AnthropicModel
from bot.backends.prices import cost_usd
from bot.cli.main import app
from bot.drill.rehearsal_model import answer as honest
from bot.evaluation.corpus import SETS, cases
from bot.evaluation.live import Purse, judged
from engine.errors import TransientError
from engine.evaluation.answers import Graded, Tally, Truth
from engine.model.finding import Disposition, TrustLevel
from engine.model.llm import ModelReply, ModelRequest
from engine.model.policy import TriageRule
from tests.eval.trial import trial
from tests.fakes import MemoryStore, ScriptedLLM, run, said

DEAREST = 0.17


@asynccontextmanager
async def purse(limit_usd: float) -> AsyncIterator[Purse]:
    async with trial(honest) as models:
        model: AnthropicModel = models.model
        yield Purse(model, limit_usd, cost_usd)


@pytest.mark.corpus
@pytest.mark.parametrize("name", SETS)
async def test_every_recorded_failure_can_be_judged(shared: Path, name: str) -> None:
    store: object = MemoryStore()
    chosen = list(itertools.islice(cases(shared / "data" / "rca" / name), 2))
    async with purse(100) as own:
        judging = judged(chosen, own, store, TriageRule())  # type: ignore[arg-type]
        found = [one async for one in judging]
    assert [type(one) for one in found] == [Graded] * len(chosen)
    assert not any(isinstance(one, Graded) and one.false_verified for one in found)


@pytest.mark.corpus
async def test_it_stops_before_a_call_that_could_cost_too_much(shared: Path) -> None:
    store: object = MemoryStore()
    async with purse(3 * DEAREST) as own:
        judging = judged(cases(shared / "data" / "rca"), own, store, TriageRule())  # type: ignore[arg-type]
        found = [one async for one in judging]
    assert own.empty
    assert 0 < own.spent_usd <= 3 * DEAREST
    assert 1 <= len(found) < 40


def request() -> ModelRequest:
    return ModelRequest(
        model="claude-sonnet-5-5",
        system=(),
        turns=(),
        schema_name="x",
        reply_schema={},
        max_tokens=1000,
    )


def test_a_call_that_failed_counts_as_if_it_had_been_paid_in_full() -> None:
    async def twice() -> Purse:
        own = Purse(ScriptedLLM([TransientError("x"), said("y")]), 1.0, cost_usd)
        with pytest.raises(TransientError):
            await own.complete(request(), 1)
        assert own.spent_usd >= 1000 * 15 / 1_000_000
        reply: ModelReply = await own.complete(request(), 1)
        assert reply.text == "y"
        return own

    assert run(twice()).calls == 2


@pytest.mark.parametrize(("limit_usd", "known"), [(0.0, True), (100.0, False)])
def test_nothing_is_sent_that_cannot_be_paid_or_has_no_price(
    limit_usd: float, *, known: bool
) -> None:
    llm = ScriptedLLM([said("y")])
    own = Purse(llm, limit_usd, cost_usd if known else lambda _model, _usage: None)
    with pytest.raises(Exception, match="more than what is left"):
        run(own.complete(request(), 1))
    assert (llm.asked, own.empty) == ([], True)


def test_it_says_what_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    found = CliRunner().invoke(app, ["eval", "live", "--usd", "1"])
    assert "no model key" in str(found.exception)
    monkeypatch.setenv("CAVEAT_MODEL_API_KEY", "sk-x-not-a-key")
    found = CliRunner().invoke(app, ["eval", "live", "--usd", "1", "--corpus", "nowhere"])
    assert "no folder nowhere" in str(found.exception)


def grade(disposition: Disposition, trust: TrustLevel, *, correct: bool) -> Graded:
    named = disposition is not Disposition.ABSTAINED
    return Graded(
        case="x", disposition=disposition, trust_level=trust, correct=correct, named=named
    )


@pytest.mark.proves("S1-20", "S1-21", "S1-22", "S1-23")
def test_accuracy_is_over_answers_only_and_stands_beside_abstention() -> None:
    answered, verified = Disposition.ANSWERED, TrustLevel.VERIFIED
    tally = Tally.of(
        [
            grade(answered, verified, correct=True),
            grade(answered, verified, correct=False),
            grade(answered, TrustLevel.UNCONFIRMED, correct=True),
            grade(Disposition.ABSTAINED, TrustLevel.UNVERIFIED, correct=False),
            grade(Disposition.NEEDS_REVIEW, TrustLevel.UNVERIFIED, correct=False),
            grade(Disposition.NOT_JUDGED, TrustLevel.UNVERIFIED, correct=False),
        ]
    )
    assert tally.accuracy == 2 / 3
    assert (tally.judged, tally.abstention_rate) == (5, 1 / 5)
    assert (tally.false_verified, tally.false_verified_rate) == (1, 1 / 5)
    nothing = Tally.of([])
    assert (nothing.accuracy, nothing.abstention_rate, nothing.false_verified_rate) == (None,) * 3
    assert not Truth().tells
