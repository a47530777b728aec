"""Presses: taken to the desk, and answered whatever comes of them."""

import asyncio
import re
from typing import Any

from telegram import Bot, CallbackQuery, Message, Update

from bot.chats.arrival import Arrival, Reply, Told
from bot.chats.inbox import Inbox
from bot.chats.telegram.accounts import Accounts
from bot.chats.telegram.errors import asked
from bot.chats.telegram.questions import WRITE, Questions
from bot.chats.telegram.voice import Voice, below
from cards import asking
from cards.card import Line
from cards.render import plain
from cards.render.limits import cut

PATIENCE_S = 5.0
"""After so long a press is answered that it is being worked on; Telegram gives it up later."""
MOST_TOAST = 200
_TOKEN = re.compile(r"[A-Za-z0-9_-]{22}")
_CHOICE = re.compile(rf"p:([A-Za-z0-9_-]{{22}}):([0-9]{{1,2}}|{WRITE})")


class Presses:
    """Answers every press: a key that nobody answers goes on spinning."""

    def __init__(
        self, bot: Bot, accounts: Accounts, inbox: Inbox, questions: Questions, voice: Voice
    ) -> None:
        """Take presses to `inbox`."""
        self._bot = bot
        self._accounts = accounts
        self._inbox = inbox
        self._questions = questions
        self._voice = voice

    async def press(self, update: Update, _: Any) -> None:
        """Deal with one press."""
        query = update.callback_query
        assert query is not None, "it is handed presses only"
        work = asyncio.create_task(self._deal(query))
        try:
            done, _still = await asyncio.wait({work}, timeout=PATIENCE_S)
            if not done:
                await self.toast(query, asking.WORKING)
            told = await work
        finally:
            work.cancel()
        if not done and told is not None:
            await self._late(query, told)
        elif done:
            await self.toast(query, told.line if told else (), alert=bool(told and told.refused))

    async def toast(self, query: CallbackQuery, line: Line, *, alert: bool = False) -> None:
        """Answer a press; one that is too old has been given up by the chat."""
        text = cut(plain.line(line), MOST_TOAST)
        await asked(
            lambda: self._bot.answer_callback_query(query.id, text or None, show_alert=alert)
        )

    async def _late(self, query: CallbackQuery, told: Told) -> None:
        if query.message is not None:
            await self._voice.say(below(query.message), asking.aside(told.line))

    async def _deal(self, query: CallbackQuery) -> Told | None:
        """Do what a press says, and say what is to be seen by all; gives what is left to tell."""
        arrival = await self._accounts.of_press(query)
        data = query.data or ""
        chosen = _CHOICE.fullmatch(data)
        if chosen is not None and isinstance(query.message, Message):
            return await self._choose(arrival, query.message, chosen[1], chosen[2])
        token = data if _TOKEN.fullmatch(data) else ""
        return await self._left(await self._inbox.press(arrival, token), query, arrival)

    async def _left(
        self, reply: Reply | None, query: CallbackQuery, arrival: Arrival
    ) -> Told | None:
        if reply is None or isinstance(reply, Told):
            return reply
        assert query.message is not None, "only what stands in a chat is known"
        said = await self._questions.reply(reply, below(query.message), arrival)
        return None if said else Told(line=asking.UNSAID, refused=True)

    async def _choose(
        self, arrival: Arrival, question: Message, prompt_id: str, choice: str
    ) -> Told | None:
        """Take a key of a question; the question goes when it is answered, or nobody waits."""
        prompt = await self._questions.waiting(prompt_id)
        mine = prompt is not None and prompt.account == _account(arrival)
        if choice == WRITE and prompt is not None and mine:
            if not await self._questions.write_instead(prompt, question, arrival):
                return Told(line=asking.UNSAID, refused=True)
            await self._voice.take_back(question)
            return None
        place = -1 if choice == WRITE else int(choice)
        told = await self._inbox.choose(arrival, prompt_id, place)
        assert told is None or isinstance(told, Told), "a choice asks for nothing more"
        if prompt is None or (mine and told is not None and not told.refused):
            await self._voice.take_back(question)
        return told


def _account(arrival: Arrival) -> str:
    return f"{arrival.identity.platform}:{arrival.identity.account}"
