"""Tries every model on every decoy: what is stamped, and what of it is wrong."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime

from bot.backends.anthropic import AnthropicModel, connect
from bot.drill.doubles.anthropic import MessagesDouble
from bot.drill.doubles.anthropic_replies import Answerer
from bot.drill.doubles.serve import serve
from bot.evaluation.ground import Ground
from engine.model.finding import Finding
from engine.model.policy import TriageRule
from tests.fakes import MemoryStore


@asynccontextmanager
async def model_of(answer: Answerer) -> AsyncIterator[tuple[AnthropicModel, MessagesDouble]]:
    """A model behind the real client library and a double that refuses what the API would."""
    double = MessagesDouble(lambda: datetime.now(UTC), answer)
    async with serve(double.app) as url:
        client = connect(key="sk-rehearsal", base_url=url)
        try:
            yield AnthropicModel(client), double
        finally:
            await client.close()


async def tried(ground: Ground, answer: Answerer, rule: TriageRule | None = None) -> Finding:
    """Have a model judge a case; the double refused none of its calls."""
    async with model_of(answer) as (model, double):
        store: object = MemoryStore()
        finding = await ground.judged(model, store, rule=rule)  # type: ignore[arg-type]
        assert not [asked.refusal for asked in double.asked if asked.refusal]
    return finding
