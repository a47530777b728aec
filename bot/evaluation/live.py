"""Recorded failures judged by a real model, within a sum of money that cannot be overrun."""

import tempfile
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bot.backends.clock import SystemClock
from bot.config import Settings
from bot.database import database
from bot.evaluation.corpus import Case
from bot.evaluation.ground import Ground, metrics_of
from engine.errors import EngineError, OperatorActionRequiredError
from engine.evaluation.answers import Graded, graded
from engine.investigation.calls import Price
from engine.model.llm import Capabilities, ModelReply, ModelRequest
from engine.model.policy import TriageRule
from engine.model.run import Usage
from engine.ports import LLM, Store

BYTES_PER_TOKEN = 3
"""Fewer than any model's average, so that a request is never taken for cheaper than it is."""


class SpentError(OperatorActionRequiredError):
    """The next call could cost more than what is left."""


@dataclass
class Purse:
    """A model that is asked only while its dearest answer can still be paid."""

    llm: LLM
    limit_usd: float
    price: Price
    spent_usd: float = 0
    calls: int = 0
    empty: bool = False
    """A call was not sent for want of money."""

    @property
    def capabilities(self) -> Capabilities:
        """What the model can do."""
        return self.llm.capabilities

    async def complete(self, request: ModelRequest, timeout_s: float) -> ModelReply:
        """Send one request, once.

        Raises:
            SpentError: its dearest answer could not be paid, or nobody knows its price.
            EngineError: whatever the provider did; what it may have cost counts as spent.
        """
        dearest = self.price(request.model, _dearest(request))
        if dearest is None or self.spent_usd + dearest > self.limit_usd:
            self.empty = True
            raise SpentError("no price is known" if dearest is None else f"${dearest:.4f}")
        self.calls += 1
        try:
            reply = await self.llm.complete(request, timeout_s)
        except EngineError:
            self.spent_usd += dearest
            raise
        self.spent_usd += self.price(request.model, reply.usage) or 0
        return reply


def _dearest(request: ModelRequest) -> Usage:
    """Give what a request costs at most: all of it written to the cache, its answer full."""
    tokens = len(request.canonical().encode()) // BYTES_PER_TOKEN
    return Usage(cache_creation_input_tokens=tokens, output_tokens=request.max_tokens)


async def judged(
    cases: Iterable[Case], purse: Purse, store: Store, rule: TriageRule
) -> AsyncIterator[Graded | str]:
    """Judge case by case until the money is spent; a case the model failed gives its error."""
    clock = SystemClock()
    for case in cases:
        async with metrics_of(case.metrics(), clock) as tool:
            ground = Ground(case.incident, case.pack, tool, clock)
            try:
                finding = await ground.judged(purse, store, rule=rule, price=purse.price)
                one: Graded | str = graded(case.name, finding, case.truth)
            except EngineError as error:
                one = f"{case.name}: {error}"
        if purse.empty:
            return
        yield one


def apart(settings: Settings, home: Path) -> Settings:
    """The configured model with a database of its own, so that no install's figures change."""
    return Settings(
        model=settings.model,
        triage=settings.triage,
        home=home,
        pg_bin=settings.pg_bin,
        links=settings.links,
    )


@contextmanager
def _home() -> Iterator[Path]:
    """A folder for one run, open to the user that root's PostgreSQL drops to."""
    with tempfile.TemporaryDirectory(prefix="caveat-eval-") as folder:
        Path(folder).chmod(0o711)
        yield Path(folder)


async def run(
    cases: Iterable[Case], settings: Settings, purse: Purse
) -> AsyncIterator[Graded | str]:
    """Judge cases with the real pipeline on a database that is thrown away."""
    with _home() as folder:
        async with database(apart(settings, folder)) as store:
            async for one in judged(cases, purse, store, settings.triage):
                yield one
