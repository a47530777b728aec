"""The chart below a card: drawn beside everything else, posted once, never in the way of a card."""

import asyncio
import logging
from collections import OrderedDict
from contextlib import suppress

from bot.backends.chart import Draw, NotDrawnError
from bot.chats.chat import (
    Absent,
    Ambiguous,
    Blind,
    Chat,
    Failure,
    Image,
    RateLimited,
    SendResult,
    Sent,
    TokenDead,
    Unchanged,
    Unreachable,
)
from bot.outbox.pace import Pace
from bot.outbox.subjects import room_of
from bot.outbox.waits import BLIND, waits_s
from bot.telemetry import Telemetry
from cards.chart import Picture, alt_text, picture
from cards.life import State, choose
from engine.model.base import digest
from engine.model.chart import Chart
from engine.model.org import Room
from engine.ports import Clock
from storage.outbox import MessageTask
from storage.store import SqlStore, SqlTx

log = logging.getLogger(__name__)

DRAWING_S = 0.4
"""How soon it is asked again whether a picture is done; its chat is free meanwhile."""
MOST_KEPT = 4
MOST_TRIES = 8
"""Sends without an answer before a chart is given up."""
QUIET = frozenset({State.CHRONIC_QUIET, State.MERGED, State.CLOSED, State.RESOLVED})
"""States in which no picture is posted any more."""


class Drawings:
    """Pictures being drawn, and the newest that are done."""

    def __init__(self, draw: Draw) -> None:
        """Draw with `draw`."""
        self._draw = draw
        self._tasks: OrderedDict[str, asyncio.Task[bytes]] = OrderedDict()

    def ask(self, key: str, told: Picture) -> asyncio.Task[bytes]:
        """Begin a picture, or give the one that was begun."""
        task = self._tasks.get(key)
        if task is None:
            task = self._tasks[key] = asyncio.create_task(self._drawn(told))
        done = [key for key, one in self._tasks.items() if one.done() and one is not task]
        for old in done[: max(0, len(self._tasks) - MOST_KEPT)]:
            del self._tasks[old]
        return task

    async def _drawn(self, told: Picture) -> bytes:
        """Draw; nothing when it cannot be drawn, which is only logged."""
        try:
            return await self._draw(told)
        except NotDrawnError as error:
            log.warning("a chart was not drawn: %s", error)
            return b""

    async def close(self) -> None:
        """Stop what is still being drawn."""
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)


class ChartSender:
    """Carries charts; whatever goes wrong with one is counted and otherwise silent."""

    def __init__(
        self,
        store: SqlStore,
        clock: Clock,
        telemetry: Telemetry,
        pace: Pace,
        drawings: Drawings | None,
    ) -> None:
        """Send at `pace`; without `drawings` there are no charts."""
        self._store = store
        self._clock = clock
        self._telemetry = telemetry
        self._pace = pace
        self._drawings = drawings

    async def carry(self, task: MessageTask, chat: Chat | None) -> None:
        """Post the chart of an incident, or put a newer one in its place."""
        async with self._store.begin() as tx:
            room, chart = await room_of(tx, task.room_id), await self._chart(tx, task)
        if chat is None or not chat.traits.pictures or self._drawings is None or chart is None:
            await self._sent(task, task.message_ref, "")
            self._count(task, "left_out")
            return
        shown = digest(chart.canonical(), 32)
        if task.message_ref is not None and (shown == task.sent_hash or not chat.traits.redraws):
            await self._settle(task, Unchanged(), shown, chat)
            return
        # Files go by the room's id alone, never by its name.
        here = room.model_copy(update={"chat": task.chat_key.partition(":")[2]})
        if task.message_ref is None and task.posting_since is not None:
            found = await chat.find(here, task.message_id, task.card_ref, task.posting_since)
            if not isinstance(found, Absent):
                await self._found(task, found)
                return
        drawing = self._drawings.ask(shown, picture(chart))
        if not drawing.done():
            await self._later(task, DRAWING_S, posted_nothing=True, counted=False)
            return
        await self._post(task, chat, here, chart, drawing.result(), shown)

    async def _chart(self, tx: SqlTx, task: MessageTask) -> Chart | None:
        """What is drawn; nothing for an incident that is over or kept quiet."""
        case = await tx.case(task.subject_id)
        if case is None or (task.message_ref is None and choose(case) in QUIET):
            return None
        return await tx.charts.of_incident(task.subject_id)

    async def _post(
        self, task: MessageTask, chat: Chat, here: Room, chart: Chart, png: bytes, shown: str
    ) -> None:
        if not png:
            await self._given_up(task, "not_drawn", "could not be drawn; see the log")
            return
        image = Image(png=png, title=picture(chart).title, alt=alt_text(chart))
        result = await chat.picture(
            here, task.card_ref, image, nonce=task.message_id, ref=task.message_ref
        )
        edit = task.message_ref is not None
        self._pace.used(task.platform, task.chat_key, self._clock.monotonic(), edit=edit)
        await self._settle(task, result, shown, chat)

    async def _settle(self, task: MessageTask, result: SendResult, shown: str, chat: Chat) -> None:
        match result:
            case Sent(ref=ref):
                await self._sent(task, ref, shown)
                self._count(task, "sent")
            case Unchanged():
                await self._sent(task, task.message_ref, shown)
                self._count(task, "unchanged")
            case Ambiguous() if task.message_ref is None and not chat.traits.finds:
                await self._given_up(task, "lost", result.reason)
            case RateLimited() | TokenDead():
                await self._again(task, result, chat)
            case Ambiguous() | Unreachable() if task.attempts < MOST_TRIES:
                await self._again(task, result, chat)
            case _:
                log.warning("%s took no chart: %s", task.platform.value, result)
                await self._given_up(task, "refused", str(result))

    async def _again(self, task: MessageTask, result: Failure, chat: Chat) -> None:
        wait_s = waits_s(self._pace, self._clock, task, result, chat.traits)
        unsure = isinstance(result, Ambiguous)
        counted = isinstance(result, Ambiguous | Unreachable)
        await self._later(task, wait_s, posted_nothing=not unsure, counted=counted)
        self._count(task, "later")

    async def _found(self, task: MessageTask, found: Sent | Blind | Failure) -> None:
        """Take over a chart that was posted after all; where nobody can tell, say no more."""
        match found:
            case Sent(ref=ref):
                async with self._store.begin() as tx:
                    await tx.outbox.message_adopted(task, ref)
            case Blind():
                await self._given_up(task, "lost", "nobody knows whether it was posted")
            case _:
                wait_s = waits_s(self._pace, self._clock, task, found, BLIND)
                await self._later(task, wait_s, posted_nothing=False, counted=False)

    async def _sent(self, task: MessageTask, ref: str | None, shown: str) -> None:
        async with self._store.begin() as tx:
            await tx.outbox.message_sent(task, ref, shown, audible=False)

    async def _later(
        self, task: MessageTask, delay_s: float, *, posted_nothing: bool, counted: bool
    ) -> None:
        async with self._store.begin() as tx:
            await tx.outbox.message_later(
                task, delay_s, posted_nothing=posted_nothing, counted=counted
            )

    async def _given_up(self, task: MessageTask, result: str, reason: str) -> None:
        async with self._store.begin() as tx:
            await tx.outbox.message_given_up(task, reason)
        self._count(task, result)

    def _count(self, task: MessageTask, result: str) -> None:
        self._telemetry.count("charts_total", platform=task.platform, result=result)

    async def close(self) -> None:
        """Stop what is still being drawn."""
        if self._drawings is not None:
            with suppress(asyncio.CancelledError):
                await self._drawings.close()
