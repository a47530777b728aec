"""A rehearsal metrics server and model, brought where nothing real is configured."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from bot.config import BackendSettings, ModelSettings, Settings
from bot.drill.doubles.anthropic import MessagesDouble
from bot.drill.doubles.serve import serve
from bot.drill.metrics_server import metrics_server
from bot.drill.rehearsal_model import answer
from bot.drill.scenario import Scenario, Stage
from engine.model.base import Frozen
from engine.ports import Clock

KEY = "sk-rehearsal"


class Brought(Frozen):
    """What a rehearsal asks; each is rehearsed or real."""

    prometheus: BackendSettings
    rehearsal_metrics: bool
    model: ModelSettings


@asynccontextmanager
async def brought(
    settings: Settings, scenario: Scenario, stage: Stage, clock: Clock
) -> AsyncIterator[Brought]:
    """Bring what is not configured."""
    async with AsyncExitStack() as stack:
        real = next((c.prometheus for c in settings.by_client.values() if c.prometheus), None)
        prometheus = real
        if prometheus is None:
            url = await stack.enter_async_context(metrics_server(scenario, stage))
            prometheus = BackendSettings(url=url)
        model = settings.model
        if model.api_key is None:
            double = MessagesDouble(clock.now, answer, key=KEY)
            url = await stack.enter_async_context(serve(double.app))
            model = ModelSettings.model_validate(
                {"api_key": KEY, "base_url": url, "rehearsal": True}
            )
        yield Brought(prometheus=prometheus, rehearsal_metrics=real is None, model=model)
