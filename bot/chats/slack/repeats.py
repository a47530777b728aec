"""One delivery at a time of the same name, and each of them once."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

KEPT = 2_000
"""Names remembered; the database knows all of them, later."""


class Repeats:
    """Knows a repeat before anything is asked; the database knows it after a restart."""

    def __init__(self) -> None:
        """Know nothing yet."""
        self._done: dict[str, None] = {}
        self._running: dict[str, asyncio.Event] = {}

    @asynccontextmanager
    async def once(self, key: str) -> AsyncIterator[bool]:
        """Say whether this is the first of its name; a repeat waits for the first to end.

        What ended in an error is not done: its repeat is the first again.
        """
        while (running := self._running.get(key)) is not None:
            await running.wait()
        if key in self._done:
            yield False
            return
        ended = self._running[key] = asyncio.Event()
        try:
            yield True
            self._remember(key)
        finally:
            del self._running[key]
            ended.set()

    def _remember(self, key: str) -> None:
        self._done[key] = None
        if len(self._done) > KEPT:
            del self._done[next(iter(self._done))]
