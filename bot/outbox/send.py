"""One card or message on its way: drawn, looked for, sent, and handed over to be settled."""

import logging
from collections.abc import Collection, Mapping
from functools import partial

from bot.chats.chat import (
    Absent,
    Blind,
    Chat,
    RoomBroken,
    SendResult,
    Shape,
    Unchanged,
)
from bot.outbox.charts import ChartSender
from bot.outbox.ladder import climb_down, rungs
from bot.outbox.pace import Pace
from bot.outbox.settle import Settler
from bot.outbox.settle_messages import MessageSettler
from bot.outbox.subjects import Drawn, DrawnMessage, draw_card, draw_message
from bot.outbox.waits import backoff_s
from bot.telemetry import Telemetry
from cards.render.links import Allowed
from cards.sound import MOST_AUDIBLE
from engine.charting import KIND as CHART
from engine.errors import StoreUnavailableError
from engine.model.action import Action
from engine.model.base import digest
from engine.model.org import Platform
from engine.ports import Clock
from storage.outbox import CardTask, MessageTask
from storage.store import SqlStore

log = logging.getLogger(__name__)

MOST_FAULTS = 5
"""Errors of our own in drawing one card before it is given up."""


class Sender:
    """Carries one claimed task at a time through its chat; never raises."""

    def __init__(
        self,
        *,
        store: SqlStore,
        chats: Mapping[Platform, Chat],
        clock: Clock,
        telemetry: Telemetry,
        links: Allowed,
        pace: Pace,
        offered: Mapping[Platform, Collection[Action]],
        charts: ChartSender,
    ) -> None:
        """Send through `chats` and count it in `pace`; `offered`: what can be pressed where."""
        self._store = store
        self._chats = chats
        self._clock = clock
        self._telemetry = telemetry
        self._links = links
        self._pace = pace
        self._offered = offered
        self._charts = charts
        self._settler = Settler(store, clock, telemetry, pace)
        self._messages = MessageSettler(store, clock, telemetry, pace)

    async def carry(self, task: CardTask | MessageTask) -> None:
        """Send a task and settle it; a claim that could not be settled runs out by itself."""
        try:
            if isinstance(task, CardTask):
                await self._card(task)
            elif task.kind == CHART:
                await self._charts.carry(task, self._chats.get(task.platform))
            else:
                await self._message(task)
        except StoreUnavailableError:
            log.warning("the database went away while %s was sent", task.chat_key)
        except Exception:
            log.exception("sending to %s failed", task.chat_key)
            await self._fault(task)

    async def _fault(self, task: CardTask | MessageTask) -> None:
        """Put off what we could not draw, and give it up after some tries."""
        settler = self._settler if isinstance(task, CardTask) else self._messages
        try:
            if task.attempts >= MOST_FAULTS:
                await settler.dead(task, "could not be drawn; see the log")  # type: ignore[arg-type]
            else:
                await settler.later(task, backoff_s(task.attempts), posted_nothing=False)  # type: ignore[arg-type]
        except StoreUnavailableError:
            log.warning("the database went away")

    async def _card(self, task: CardTask) -> None:
        above = self._pace.rate(task.platform).storm_above
        async with self._store.begin() as tx:
            drawn = await draw_card(tx, task, above, self._offered.get(task.platform, ()))
            if drawn is not None and drawn.in_storm:
                await tx.outbox.fold(task)
        if drawn is None:
            await self._settler.dead(task, "its incident is not there")
        elif drawn.in_storm:
            self._settler.count(task, "folded")
        else:
            await self._deliver(task, drawn)

    async def _deliver(self, task: CardTask, drawn: Drawn) -> None:
        chat = self._chats.get(task.platform)
        if chat is None:
            reason = f"{task.platform.value} is not set up here"
            await self._settler.settle(task, drawn, RoomBroken(reason=reason))
            return
        shapes = rungs(self._links, plain=task.plain)
        shown = digest(chat.draw(drawn.bare, shapes[0]), 32)
        if task.message_ref is not None and shown == task.sent_hash:
            await self._settler.settle(task, drawn, Unchanged(), shown)
            return
        if task.message_ref is None and task.posting_since is not None:
            found = await chat.find(drawn.room, task.card_id, task.reply_ref, task.posting_since)
            if not isinstance(found, Absent | Blind):
                await self._settler.found(task, found)
                return
            if isinstance(found, Blind):
                self._settler.count(task, "repeated")

        async def send(shape: Shape) -> SendResult:
            if task.message_ref is not None:
                return await chat.edit(
                    drawn.room, task.message_ref, drawn.card, shape, task.card_id
                )
            post = partial(chat.post, drawn.room)
            if task.reply_ref is not None:
                post = partial(chat.reply, drawn.room, task.reply_ref)
            return await post(drawn.card, shape, nonce=task.card_id, audible=drawn.audible)

        result, shape, refusals = await climb_down(shapes, send)
        self._used(task)
        if refusals:
            log.error("%s refused a card: %s", task.platform.value, refusals)
        await self._settler.settle(
            task, drawn, result, shown, plain=shape.plain, traits=chat.traits
        )

    async def _message(self, task: MessageTask) -> None:
        async with self._store.begin() as tx:
            drawn = await draw_message(tx, task)
        chat = self._chats.get(task.platform)
        if chat is None:
            await self._messages.dead(task, f"{task.platform.value} is not set up here")
        elif drawn.card is None or self._too_loud(chat, task, drawn):
            await self._messages.left_out(task)
        else:
            await self._deliver_message(task, drawn, chat)

    def _too_loud(self, chat: Chat, task: MessageTask, drawn: DrawnMessage) -> bool:
        """Whether a reply would ring once too often where nothing can be posted silently."""
        is_new = task.message_ref is None and task.audible
        return is_new and not chat.traits.silences and drawn.rung >= MOST_AUDIBLE

    async def _deliver_message(self, task: MessageTask, drawn: DrawnMessage, chat: Chat) -> None:
        card = drawn.card
        assert card is not None, "asked before"
        shapes = rungs(self._links)
        shown = digest(chat.draw(card, shapes[0]), 32)
        rings = drawn.audible or (task.audible and not chat.traits.silences)
        if task.message_ref is not None and shown == task.sent_hash:
            await self._messages.settle(task, Unchanged(), shown, rings=task.audible)
            return
        if task.message_ref is None and task.posting_since is not None:
            found = await chat.find(drawn.room, task.message_id, task.card_ref, task.posting_since)
            if not isinstance(found, Absent | Blind):
                await self._messages.found(task, found)
                return
            if isinstance(found, Blind):
                self._messages.count(task, "repeated")

        async def send(shape: Shape) -> SendResult:
            if task.message_ref is not None:
                return await chat.edit(drawn.room, task.message_ref, card, shape, task.message_id)
            return await chat.reply(
                drawn.room,
                task.card_ref,
                card,
                shape,
                nonce=task.message_id,
                audible=drawn.audible,
            )

        result, _, refusals = await climb_down(shapes, send)
        self._used(task)
        if refusals:
            log.error("%s refused a message: %s", task.platform.value, refusals)
        rings = rings if task.message_ref is None else task.audible
        await self._messages.settle(task, result, shown, rings=rings, traits=chat.traits)

    def _used(self, task: CardTask | MessageTask) -> None:
        edit = task.message_ref is not None
        self._pace.used(task.platform, task.chat_key, self._clock.monotonic(), edit=edit)
