"""What happens to the bot's chats: added, silenced, thrown out, grown into a supergroup."""

import logging
from typing import Any

from telegram import ChatMember, ChatMemberRestricted, Update
from telegram.constants import ChatMemberStatus

from bot.chats.telegram.menus import Menus
from cards.notice import Notice
from engine.model.org import Platform
from storage.store import SqlStore, SqlTx

log = logging.getLogger(__name__)


def cannot_post(member: ChatMember) -> str | None:
    """Why the bot cannot post, as it stands in a chat now; None when it can."""
    match member.status:
        case ChatMemberStatus.BANNED:
            return "the bot was removed from the chat"
        case ChatMemberStatus.LEFT:
            return "the bot is not in the chat"
        case _:
            silenced = isinstance(member, ChatMemberRestricted) and not member.can_send_messages
            return "the bot may not send messages there" if silenced else None


class Rooms:
    """Keeps rooms true to their chats."""

    def __init__(self, store: SqlStore, menus: Menus) -> None:
        """Keep them in `store`."""
        self._store = store
        self._menus = menus

    async def changed(self, update: Update, _: Any) -> None:
        """The bot's own standing changed."""
        change = update.my_chat_member
        assert change is not None, "it is handed such changes only"
        chat, why = str(change.chat.id), cannot_post(change.new_chat_member)
        if why is not None:
            await self._lost(chat, why)
            return
        async with self._store.begin() as tx:
            mended = await tx.rooms.mend(Platform.TELEGRAM, chat)
        if mended:
            log.info("%s can be posted in again", ", ".join(mended))
        await self._menus.of_chat(chat)

    async def _lost(self, chat: str, why: str) -> None:
        async with self._store.begin() as tx:
            for room_id, client_id in await tx.rooms.lose(Platform.TELEGRAM, chat, why):
                log.error("nothing can be posted in %s: %s", room_id, why)
                if client_id is not None:
                    await _tell_elsewhere(tx, room_id, client_id)

    async def grown(self, update: Update, _: Any) -> None:
        """A group became a supergroup, which has another id; both of them say so."""
        message = update.message
        assert message is not None, "it is handed messages only"
        old = message.migrate_from_chat_id or message.chat.id
        new = message.migrate_to_chat_id or message.chat.id
        async with self._store.begin() as tx:
            moved = await tx.rooms.follow(Platform.TELEGRAM, str(old), str(new))
        if moved:
            log.warning("telegram:%s is a supergroup now: %s", old, new)
            await self._menus.of_chat(str(new))


async def _tell_elsewhere(tx: SqlTx, room_id: str, client_id: str) -> None:
    """Say in another room of the client that this one is lost."""
    others = await tx.org.reachable(client_id)
    if others:
        about = f"{Notice.ROOM_UNREACHABLE.value}:{room_id}"
        await tx.cards.wish_notice(client_id, about, others[0])
