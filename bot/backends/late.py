"""A model whose client library is loaded late: that takes longer than all the rest together."""

import asyncio
import importlib
import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from engine.model.llm import Capabilities, ModelReply, ModelRequest
from engine.ports import LLM

LIBRARY = "bot.backends.anthropic"


def preload() -> None:
    """Begin loading the client library while this process waits for its database."""
    # A daemon, so that a process that has to end early does not wait for it.
    threading.Thread(target=importlib.import_module, args=(LIBRARY,), daemon=True).start()


@dataclass
class LateModel:
    """Stands for a model from the first moment; the first to need it waits until it is loaded."""

    capabilities: Capabilities
    load: Callable[[], LLM]
    _loaded: LLM | None = None
    _loading: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def loaded(self) -> LLM:
        """Load it, once, off the event loop."""
        async with self._loading:
            if self._loaded is None:
                self._loaded = await asyncio.to_thread(self.load)
            return self._loaded

    async def warm(self) -> None:
        """Have it loaded before it is needed; what is wrong with its settings shows here."""
        await self.loaded()

    async def complete(self, request: ModelRequest, timeout_s: float) -> ModelReply:
        """Send one request, once.

        Raises:
            EngineError: whatever the provider did.
        """
        model = await self.loaded()
        return await model.complete(request, timeout_s)
