"""In which order updates are dealt with: one chat's in turn, many chats at once."""

import asyncio
from collections import Counter
from collections.abc import Awaitable
from typing import Any

from telegram import Update
from telegram.ext import BaseUpdateProcessor
from typing_extensions import override

AT_ONCE = 256


class ChatByChat(BaseUpdateProcessor):
    """Holds an update back until those of its chat that came before it are done."""

    def __init__(self) -> None:
        super().__init__(AT_ONCE)
        self._turns: dict[int, asyncio.Lock] = {}
        self._waiting: Counter[int] = Counter()

    @override
    async def do_process_update(self, update: object, coroutine: Awaitable[Any]) -> None:
        chat = update.effective_chat if isinstance(update, Update) else None
        if chat is None:
            await coroutine
            return
        turn = self._turns.setdefault(chat.id, asyncio.Lock())
        self._waiting[chat.id] += 1
        try:
            async with turn:
                await coroutine
        finally:
            self._waiting[chat.id] -= 1
            if not self._waiting[chat.id]:
                del self._turns[chat.id], self._waiting[chat.id]

    @override
    async def initialize(self) -> None:
        """Nothing has to be prepared."""

    @override
    async def shutdown(self) -> None:
        """Nothing is held."""
