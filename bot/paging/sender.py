"""The loop that tells pagers: on its own, whatever chats and models do."""

import asyncio
import contextlib
import logging
from collections.abc import Mapping

from bot.paging.pager import Later, Pager, Refused, Told, Took
from bot.telemetry import Telemetry
from engine.errors import StoreUnavailableError
from storage.cards import NOTICE
from storage.listener import listen
from storage.pages import CHANNEL, LATE_TRIES, PageTask
from storage.store import SqlStore, SqlTx

log = logging.getLogger(__name__)

AT_ONCE = 16
POLL_S = 1.0
"""Longest rest; a lost wake-up call costs no more."""
MOST_TRIES = 40
"""Tries before a page is given up: half an hour of silence."""
LONGEST_S = 60.0
DRAIN_S = 3.0
"""How long what is being sent may still take after a stop."""
UNKNOWN = Refused(reason="no such pager is configured any more")


def backoff_s(attempts: int) -> float:
    """Wait after the nth try in a row that came to nothing."""
    return min(LONGEST_S, float(1 << min(attempts - 1, 10)))


class PageSender:
    """Sends every page, each pager's of one incident in their order, at least once."""

    def __init__(
        self,
        store: SqlStore,
        pagers: Mapping[tuple[str, str], Pager],
        telemetry: Telemetry,
    ) -> None:
        """Send through `pagers`, by client and name."""
        self._store = store
        self._pagers = pagers
        self._telemetry = telemetry
        self._wake = asyncio.Event()
        self._running: set[asyncio.Task[None]] = set()

    async def run(self, stop: asyncio.Event) -> None:
        """Send until `stop` is set, then let what is on its way arrive."""
        stopped = asyncio.create_task(stop.wait())
        listening = asyncio.create_task(listen(self._store, CHANNEL, self._wake))
        try:
            while not stop.is_set():
                self._wake.clear()
                await self._begin()
                await self._rest(stopped)
            if self._running:
                await asyncio.wait(self._running, timeout=DRAIN_S)
        finally:
            for task in (stopped, listening, *self._running):
                task.cancel()
            await asyncio.gather(stopped, listening, *self._running, return_exceptions=True)

    async def _begin(self) -> None:
        free = AT_ONCE - len(self._running)
        if free <= 0:
            return
        try:
            async with self._store.begin() as tx:
                due = await tx.pages.claim(free)
        except StoreUnavailableError:
            return
        for task in due:
            running = asyncio.create_task(self._carry(task))
            self._running.add(running)
            running.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._running.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("a page was not sent; it is tried again", exc_info=error)
        self._wake.set()

    async def _rest(self, stopped: asyncio.Task[bool]) -> None:
        woken = asyncio.create_task(self._wake.wait())
        await asyncio.wait({stopped, woken}, timeout=POLL_S, return_when=asyncio.FIRST_COMPLETED)
        woken.cancel()
        await asyncio.gather(woken, return_exceptions=True)

    async def _carry(self, task: PageTask) -> None:
        pager = self._pagers.get((task.client_id, task.pager))
        told = UNKNOWN if pager is None else await pager.tell(task)
        # Without a database to say so the claim runs out, and the page is sent again.
        with contextlib.suppress(StoreUnavailableError):
            await self._settle(task, told)

    async def _settle(self, task: PageTask, told: Told) -> None:
        async with self._store.begin() as tx:
            result = await _recorded(tx, task, told)
            if result == "dead" or _shows(task, result):
                await _redraw(tx, task)
        self._telemetry.count("page_sends_total", action=task.action.value, result=result)


async def _recorded(tx: SqlTx, task: PageTask, told: Told) -> str:
    """Record what became of it; the name of that for the counter."""
    match told:
        case Took():
            await tx.pages.sent(task)
            return "sent"
        case Later(reason=reason, wait_s=wait_s) if task.attempts < MOST_TRIES:
            await tx.pages.later(task, max(backoff_s(task.attempts), wait_s or 0.0), reason)
            return "later"
        case Later(reason=reason) | Refused(reason=reason):
            await _give_up(tx, task, reason)
            return "dead"


async def _give_up(tx: SqlTx, task: PageTask, reason: str) -> None:
    if not await tx.pages.dead(task, reason):
        return
    log.error("%s: %s did not take a page: %s", task.client_id, task.pager, reason)
    about = f"page_undelivered:{task.pager}, incident {task.body.number}"
    await tx.cards.wish_digest(task.client_id, NOTICE, about)


def _shows(task: PageTask, result: str) -> bool:
    """Whether the incident's card says something else from now on."""
    late = task.attempts == LATE_TRIES if result == "later" else task.attempts > LATE_TRIES
    return task.action.value == "trigger" and late


async def _redraw(tx: SqlTx, task: PageTask) -> None:
    incident = await tx.incidents.get(task.incident_id)
    if incident is not None:
        await tx.cards.wish(incident, "paged")
