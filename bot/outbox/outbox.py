"""The loop: takes what is due, a chat at a time, until it is told to stop."""

import asyncio
import logging
from collections.abc import Collection, Mapping
from typing import Any

from bot.backends.chart import Draw
from bot.chats.chat import Chat
from bot.chats.console.log import LogChat
from bot.outbox.charts import ChartSender, Drawings
from bot.outbox.pace import RATES, Pace, Rate
from bot.outbox.send import Sender
from bot.telemetry import Telemetry
from cards.render.links import Allowed
from engine.errors import StoreUnavailableError
from engine.model.action import Action
from engine.model.org import Platform
from engine.ports import Clock
from storage.cards import CHANNEL
from storage.listener import listen
from storage.outbox import CardTask, MessageTask
from storage.store import SqlStore

log = logging.getLogger(__name__)

AT_ONCE = 20
"""Chats sent to at the same time."""
POLL_S = 1.0
"""Longest rest; a lost wake-up call costs no more."""
DRAIN_S = 3.0
"""How long what is due may still be sent after a stop."""


class Outbox:
    """Sends every wished-for card and message."""

    def __init__(
        self,
        *,
        store: SqlStore,
        chats: Mapping[Platform, Chat],
        clock: Clock,
        telemetry: Telemetry,
        links: Allowed,
        rates: Mapping[Platform, Rate] = RATES,
        offered: Mapping[Platform, Collection[Action]] | None = None,
        draw: Draw | None = None,
    ) -> None:
        """Send through `chats`; cards for the console go to the log when there is no console.

        `offered` are the acts that can be pressed in a chat; where none can, no button is drawn.
        `draw` makes pictures; without it there are no charts.
        """
        self._store = store
        self._clock = clock
        self._pace = Pace(rates)
        self._wake = asyncio.Event()
        drawings = Drawings(draw) if draw is not None else None
        self._charts = ChartSender(store, clock, telemetry, self._pace, drawings)
        self._sender = Sender(
            store=store,
            chats={Platform.CONSOLE: LogChat(), **chats},
            clock=clock,
            telemetry=telemetry,
            links=links,
            pace=self._pace,
            offered=offered or {},
            charts=self._charts,
        )
        self._running: dict[asyncio.Task[None], str] = {}

    async def run(self, stop: asyncio.Event) -> None:
        """Send until `stop` is set, then what is due for a few seconds more."""
        stopped = asyncio.create_task(stop.wait())
        listening = asyncio.create_task(listen(self._store, CHANNEL, self._wake))
        try:
            while not stop.is_set():
                self._wake.clear()
                await self._rest(stopped, await self._begin())
            await self._drain()
        finally:
            for task in (stopped, listening, *self._running):
                task.cancel()
            await asyncio.gather(stopped, listening, *self._running, return_exceptions=True)
            await self._charts.close()

    async def _begin(self) -> float:
        """Start what is due; says how long nothing else can be."""
        now_s = self._clock.monotonic()
        closed = self._pace.closed(now_s, set(self._running.values()))
        try:
            async with self._store.begin() as tx:
                cards = await tx.outbox.claim(closed, AT_ONCE)
                taken = tuple(task.chat_key for task in cards)
                closed = closed.model_copy(
                    update={"posts": closed.posts + taken, "edits": closed.edits + taken}
                )
                messages = await tx.outbox.claim_messages(closed, AT_ONCE)
                due_s = await tx.outbox.next_due_s()
        except StoreUnavailableError:
            return POLL_S
        except Exception:
            log.exception("nothing could be taken from the outbox")
            return POLL_S
        due: list[CardTask | MessageTask] = [*cards, *messages]
        for task in due:
            self._start(task)
        opens_s = self._pace.opens_in_s(now_s)
        return min([POLL_S, *(s for s in (due_s, opens_s) if s is not None and s > 0)])

    def _start(self, task: CardTask | MessageTask) -> None:
        running = asyncio.create_task(self._sender.carry(task))
        self._running[running] = task.chat_key
        running.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._running.pop(task, None)
        self._wake.set()

    async def _rest(self, stopped: asyncio.Task[Any], longest_s: float) -> None:
        woken = asyncio.create_task(self._wake.wait())
        waits: set[asyncio.Task[Any]] = {stopped, woken}
        await asyncio.wait(waits, timeout=longest_s, return_when=asyncio.FIRST_COMPLETED)
        woken.cancel()
        await asyncio.gather(woken, return_exceptions=True)

    async def _drain(self) -> None:
        end_s = self._clock.monotonic() + DRAIN_S
        while (left_s := end_s - self._clock.monotonic()) > 0:
            self._wake.clear()
            await self._begin()
            if not self._running:
                return
            await asyncio.wait(list(self._running), timeout=left_s)
