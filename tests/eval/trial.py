"""Tries models on cases: the real client library, a double behind it, the engine in between."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime

from bot.backends.anthropic import AnthropicModel, connect
from bot.drill.doubles.anthropic import MessagesDouble
from bot.drill.doubles.anthropic_replies import Answerer
from bot.drill.doubles.serve import serve
from bot.drill.scenario import Scenario
from bot.evaluation.ground import Ground
from engine.evaluation.answers import Truth
from engine.model.finding import Finding
from engine.model.pack import CauseClass
from tests.fakes import MemoryStore


def _is(component: str, kind: CauseClass) -> Truth:
    return Truth(components=(component,), classes=(kind,))


CHECKOUT = _is("checkout", CauseClass.RESOURCE_EXHAUSTION)
"""Its own pool fills up; no deploy has to do with it."""


@dataclass
class Trial:
    """One model at a time behind one double, which refuses what the API would."""

    model: AnthropicModel
    double: MessagesDouble

    async def tried(self, ground: Ground, answer: Answerer) -> Finding:
        """Have this model judge a case; none of its calls was refused."""
        self.double.answer = answer
        store: object = MemoryStore()
        finding = await ground.judged(self.model, store)  # type: ignore[arg-type]
        assert not [asked.refusal for asked in self.double.asked if asked.refusal]
        return finding


@asynccontextmanager
async def trial(answer: Answerer) -> AsyncIterator[Trial]:
    """Start the double; `answer` stands behind it until another model is tried."""
    double = MessagesDouble(lambda: datetime.now(UTC), answer)
    async with serve(double.app) as url:
        client = connect(key="sk-rehearsal", base_url=url)
        try:
            yield Trial(AnthropicModel(client), double)
        finally:
            await client.close()


TRUTHS = {
    "deploy-regression": _is("checkout", CauseClass.DEPLOY),
    "storm": _is("worker-3", CauseClass.NODE),
    "db-outage": _is("orders-db", CauseClass.DATABASE),
    "no-evidence": Truth(),
    "both versions": Truth(),
    "beside a database": _is("orders-db", CauseClass.DATABASE),
    "beside a node": _is("worker-3", CauseClass.NODE),
}


def truth_of(scenario: Scenario) -> Truth:
    """What was really wrong."""
    return TRUTHS.get(scenario.name, CHECKOUT)


def named(scenarios: Sequence[Scenario], *names: str) -> list[Scenario]:
    """Scenarios by their names."""
    return [one for one in scenarios if one.name in names]
