"""The commands Telegram lists: in rooms that are tied to something, in private, nowhere else."""

import logging
from collections.abc import Sequence

from telegram import Bot, BotCommandScope, BotCommandScopeAllPrivateChats, BotCommandScopeChat

from bot.chats.chat import Failure
from bot.chats.telegram.errors import asked
from cards import menu
from engine.model.org import Platform
from storage.store import SqlStore

log = logging.getLogger(__name__)


class Menus:
    """Sets them."""

    def __init__(self, bot: Bot, store: SqlStore) -> None:
        """Set them for a bot and the rooms in `store`."""
        self._bot = bot
        self._store = store

    async def everywhere(self) -> None:
        """Set every list there is; a chat we may not set one for is left without."""
        await self._set([], None)
        await self._set(menu.PRIVATE, BotCommandScopeAllPrivateChats())
        for chat in await self._chats():
            await self._set(menu.ROOM, BotCommandScopeChat(chat))

    async def of_chat(self, chat: str) -> None:
        """Set the list of one chat, if it is tied to something."""
        if chat in await self._chats():
            await self._set(menu.ROOM, BotCommandScopeChat(chat))

    async def _chats(self) -> Sequence[str]:
        async with self._store.begin() as tx:
            rooms = [room for room, _, _ in await tx.rooms.every()]
        return sorted({room.chat for room in rooms if room.platform is Platform.TELEGRAM})

    async def _set(
        self, commands: Sequence[tuple[str, str]], scope: BotCommandScope | None
    ) -> None:
        said = await asked(lambda: self._bot.set_my_commands(list(commands), scope=scope))
        if isinstance(said, Failure):
            log.info("telegram: a list of commands was not set: %s", type(said).__name__)
