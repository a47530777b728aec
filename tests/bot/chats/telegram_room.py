"""A Telegram room with people in it, our bot listening, and cards drawn with their keys."""

import asyncio
import secrets
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any

from bot.backends.clock import SystemClock
from bot.chats.commands.command import Install
from bot.chats.commands.commands import Commands
from bot.chats.inbox import Inbox
from bot.chats.telegram.inbox import TelegramInbox
from bot.config import TelegramSettings
from bot.drill.doubles.telegram import TelegramDouble
from bot.drill.doubles.telegram_room import Message
from cards.render.links import nowhere
from engine.desk.desk import Desk
from engine.desk.table import OFFERED
from engine.model.incident import Incident
from engine.model.org import Identity, Person, Platform, Role
from storage.store import SqlStore
from tests.bot.sending import TELEGRAM, Stage, stage, until

ROOM = -1001
ADA, BOB, EVE = 7, 8, 9
INSTALL = Install(connected={}, model=True, names=lambda _: (), count=lambda _: None)
KEYS = {Platform.TELEGRAM: OFFERED}


def fresh_id() -> str:
    return secrets.token_hex(16)


@dataclass
class Floor:
    """What a test has in its hands."""

    stage: Stage
    inbox: TelegramInbox

    @property
    def telegram(self) -> TelegramDouble:
        return self.stage.telegram

    @property
    def card(self) -> Message:
        return self.telegram.messages(ROOM)[0]

    @property
    def newest(self) -> Message:
        return self.telegram.messages(ROOM)[-1]

    async def shown(self, **finding: Any) -> Incident:
        """An incident with its card, and with a finding where something of one is given."""
        incident = await self.stage.incident()
        await self.stage.wish(incident)
        await self.stage.settled()
        if finding:
            await self.stage.finding(incident, **finding)
            await self.stage.settled()
        return incident

    async def press(self, who: int, label: str, message: Message | None = None) -> str:
        """Press a key, and wait until the press is answered; gives what the answer says."""
        return await self.answer(await self.begin(who, label, message))

    async def begin(self, who: int, label: str, message: Message | None = None) -> str:
        at = message or self.card
        data = next(key["callback_data"] for key in at.buttons if key["text"].startswith(label))
        return await self.telegram.presses(at.chat_id, at.id, data, who)

    async def answer(self, query: str) -> str:
        await until(lambda: query in self.answered)
        return str(self.answered[query].get("text") or "")

    @property
    def answered(self) -> dict[str, Any]:
        return {str(said["callback_query_id"]): said for said in self.telegram.space.answers}

    async def tells(self, who: int, text: str, chat: int = ROOM, **how: Any) -> Message:
        """Write something, and wait for what the bot says to it."""
        before = len(self.telegram.messages(chat))
        await self.telegram.says(chat, who, text, **how)
        await until(lambda: len(self.telegram.messages(chat)) > before)
        return self.telegram.messages(chat)[-1]

    async def heard_nothing(self) -> None:
        """Wait until every update was taken, and dealt with."""
        await until(lambda: not self.telegram.updates.waiting)
        await self.telegram.says(BOB, BOB, "/help")
        await until(lambda: bool(self.telegram.messages(BOB)))

    async def person(self, who: int, name: str, role: Role | None = None) -> Person:
        """Link an account."""
        async with self.stage.store.begin() as tx:
            person = await tx.people.add(name, by="test")
            await tx.people.keep_code(person, "code", by="test")
            await tx.people.redeem("code", Identity(platform=Platform.TELEGRAM, account=str(who)))
            if role is not None:
                await tx.people.grant(person, "default", role, by="test")
        return person


def listener(stage: Stage, **more: Any) -> TelegramInbox:
    settings = {"token": stage.telegram.token, "base_url": f"{stage.telegram_url}/bot"}
    public = more.pop("public_url", None)
    inbox = Inbox(stage.store, Desk(stage.store, fresh_id))
    return TelegramInbox(
        TelegramSettings.model_validate(settings | more),
        store=stage.store,
        inbox=inbox,
        commands=Commands(stage.store, INSTALL),
        clock=SystemClock(),
        links=nowhere,
        public_url=public,
    )


@asynccontextmanager
async def at_work(inbox: TelegramInbox) -> AsyncIterator[None]:
    task = asyncio.create_task(inbox.run())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


@asynccontextmanager
async def floor(store: SqlStore, *, listening: bool = True, **more: Any) -> AsyncIterator[Floor]:
    async with stage(store, TELEGRAM) as s:
        s.telegram.chat(BOB, "private")
        s.telegram.person(ADA, "Ada")
        s.telegram.person(BOB, "Bob", "administrator")
        s.telegram.person(EVE, "Eve", "restricted")
        inbox = listener(s, **more)
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(s.running(offered=KEYS))
            if listening:
                await stack.enter_async_context(at_work(inbox))
            yield Floor(s, inbox)
