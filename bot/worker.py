"""Takes jobs and runs them, each under a lease that is renewed until the job is done."""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Literal

from engine.errors import StoreUnavailableError
from engine.model.base import Frozen
from engine.ports import DeadReason, Delivery, JobQueue, Queue

log = logging.getLogger(__name__)


class Done(Frozen):
    """The job is done and must be acknowledged."""


class Settled(Frozen):
    """The job acknowledged itself in the transaction of its result."""


class Unsaid(Frozen):
    """Nobody knows how the job ended: its lease runs out, and its claims are counted."""


class Retry(Frozen):
    """Try again later."""

    delay_s: float
    error: str


class GiveUp(Frozen):
    """Never try again."""

    reason: DeadReason
    error: str


Verb = Done | Settled | Unsaid | Retry | GiveUp
Handler = Callable[[Delivery], Awaitable[Verb]]

STORE_WAIT_S = 15
"""Wait after the database went away under a job."""


class Worker:
    """Runs the jobs of some queues, up to a number of each at once."""

    def __init__(
        self,
        queue: JobQueue,
        handlers: Mapping[Queue, Handler],
        slots: Mapping[Queue, int],
        *,
        renew_s: float = 10,
        poll_s: float = 1,
        grace_s: float = 20,
    ) -> None:
        """Serve `handlers`; `grace_s` is how long running jobs may go on after a stop."""
        self._queue = queue
        self._handlers = handlers
        self._slots = slots
        self._renew_s = renew_s
        self._poll_s = poll_s
        self._grace_s = grace_s
        self._running: dict[asyncio.Task[None], Queue] = {}
        self._freed = asyncio.Event()

    async def run(self, stop: asyncio.Event) -> None:
        """Work until `stop` is set, then drain; jobs that outlast the grace are handed back."""
        stopped = asyncio.create_task(stop.wait())
        try:
            while not stop.is_set():
                claimed = await self._claim()
                if not claimed:
                    await self._idle(stopped)
        finally:
            stopped.cancel()
            await self._drain()

    async def _idle(self, stopped: asyncio.Task[Literal[True]]) -> None:
        self._freed.clear()
        due = asyncio.create_task(self._queue.wait(self._poll_s))
        freed = asyncio.create_task(self._freed.wait())
        try:
            waits: set[asyncio.Task[Any]] = {stopped, due, freed}
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            due.cancel()
            freed.cancel()
            await asyncio.gather(due, freed, return_exceptions=True)

    async def _claim(self) -> int:
        count = 0
        for queue in self._handlers:
            busy = sum(1 for q in self._running.values() if q is queue)
            free = self._slots[queue] - busy
            if free <= 0:
                continue
            try:
                deliveries = await self._queue.claim([queue], free)
            except StoreUnavailableError:
                return 0
            for delivery in deliveries:
                task = asyncio.create_task(self._carry(delivery))
                self._running[task] = queue
                task.add_done_callback(self._forget)
                count += 1
        return count

    def _forget(self, task: asyncio.Task[None]) -> None:
        del self._running[task]
        self._freed.set()

    async def _carry(self, delivery: Delivery) -> None:
        work = asyncio.create_task(self._verb(delivery))
        renewal = asyncio.create_task(self._renew(delivery, work))
        try:
            verb = await work
        except asyncio.CancelledError:
            work.cancel()
            await asyncio.gather(work, return_exceptions=True)
            verb = Retry(delay_s=0, error="handed back: this worker is stopping")
        finally:
            renewal.cancel()
        with contextlib.suppress(StoreUnavailableError):  # the lease runs out by itself
            await self._say(delivery, verb)

    async def _verb(self, delivery: Delivery) -> Verb:
        try:
            return await self._handlers[delivery.queue](delivery)
        except StoreUnavailableError as error:
            return Retry(delay_s=STORE_WAIT_S, error=str(error))
        except Exception:
            log.exception("%s job %s failed", delivery.queue.value, delivery.key)
            # No verb: the queue gives up what fails like this time and again, calls and all.
            return Unsaid()

    async def _renew(self, delivery: Delivery, work: asyncio.Task[Verb]) -> None:
        while True:
            await asyncio.sleep(self._renew_s)
            with contextlib.suppress(StoreUnavailableError):
                if not await self._queue.in_progress(delivery):
                    log.warning("lease of %s %s lost", delivery.queue.value, delivery.key)
                    work.cancel()
                    return

    async def _say(self, delivery: Delivery, verb: Verb) -> None:
        match verb:
            case Done():
                await self._queue.ack(delivery)
            case Retry(delay_s=delay_s, error=error):
                await self._queue.nak(delivery, delay_s, error)
            case GiveUp(reason=reason, error=error):
                await self._queue.term(delivery, reason, error)
            case Settled() | Unsaid():
                pass

    async def _drain(self) -> None:
        if not self._running:
            return
        _, left = await asyncio.wait(list(self._running), timeout=self._grace_s)
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)
