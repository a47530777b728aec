"""In which order updates are dealt with: one chat's in turn, many chats at once.

Presses wait for those of the same person only: the desk decides who was first, and a press has to
be answered within seconds however many press.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable
from typing import Any

from telegram import Update
from telegram.ext import BaseUpdateProcessor
from typing_extensions import override

AT_ONCE = 256
Turn = tuple[int, int | None]
"""A chat, or one person's presses in it."""


def turn_of(update: object) -> Turn | None:
    """Whose turn an update has to wait for."""
    if not isinstance(update, Update) or update.effective_chat is None:
        return None
    press = update.callback_query
    return update.effective_chat.id, press.from_user.id if press is not None else None


class ChatByChat(BaseUpdateProcessor):
    """Holds an update back until those of its chat that came before it are done."""

    def __init__(self) -> None:
        super().__init__(AT_ONCE)
        self._turns: dict[Turn, asyncio.Lock] = {}
        self._waiting: Counter[Turn] = Counter()

    @override
    async def do_process_update(self, update: object, coroutine: Awaitable[Any]) -> None:
        whose = turn_of(update)
        if whose is None:
            await coroutine
            return
        turn = self._turns.setdefault(whose, asyncio.Lock())
        self._waiting[whose] += 1
        try:
            async with turn:
                await coroutine
        finally:
            self._waiting[whose] -= 1
            if not self._waiting[whose]:
                del self._turns[whose], self._waiting[whose]

    @override
    async def initialize(self) -> None:
        """Nothing has to be prepared."""

    @override
    async def shutdown(self) -> None:
        """Nothing is held."""
