"""The one door of time."""

import asyncio
import time
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime


class SystemClock:
    """The machine's own time."""

    def now(self) -> datetime:
        """Wall clock, aware, UTC."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """Seconds that only grow; for deadlines."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Let time pass."""
        await asyncio.sleep(seconds)

    def timeout(self, seconds: float) -> AbstractAsyncContextManager[object]:
        """A scope that raises `TimeoutError` after `seconds`."""
        return asyncio.timeout(seconds)
