"""Who speaks: the account behind an update, and what it is in the chat at this moment."""

import logging
from typing import NamedTuple

from telegram import (
    Bot,
    CallbackQuery,
    Chat,
    ChatMember,
    ChatMemberRestricted,
    Message,
    User,
)
from telegram.constants import ChatMemberStatus, ChatType
from telegram.error import TelegramError

from bot.chats.arrival import Arrival
from bot.chats.telegram.voice import topic_of
from engine.model.desk import Membership
from engine.model.org import Identity, Platform

log = logging.getLogger(__name__)

_RUN_IT = frozenset({ChatMemberStatus.OWNER, ChatMemberStatus.ADMINISTRATOR})
_FULL = _RUN_IT | {ChatMemberStatus.MEMBER}


class Standing(NamedTuple):
    """What an account is in a chat."""

    membership: Membership
    administers: bool = False


OUTSIDE = Standing(Membership.OUTSIDE)


def standing_of(member: ChatMember) -> Standing:
    """Read a status; what is not known to be a member is none."""
    if member.user.is_bot:
        return Standing(Membership.BOT)
    if member.status in _FULL:
        return Standing(Membership.FULL, member.status in _RUN_IT)
    if isinstance(member, ChatMemberRestricted) and member.is_member:
        return Standing(Membership.GUEST)
    return OUTSIDE


def speaks_for_the_chat(message: Message) -> bool:
    """Whether an administrator who hides behind the chat's own name wrote it."""
    return message.sender_chat is not None and message.sender_chat.id == message.chat.id


class Accounts:
    """Makes arrivals of updates."""

    def __init__(self, bot: Bot) -> None:
        """Ask a bot what accounts are."""
        self._bot = bot

    async def of_press(self, query: CallbackQuery) -> Arrival:
        """Whoever pressed, even where they post under the chat's name; a press shows them."""
        message = query.message
        standing = await self._standing(message.chat, query.from_user) if message else OUTSIDE
        return Arrival(
            key=f"press:{query.id}",
            identity=_identity(query.from_user),
            name=query.from_user.full_name,
            membership=standing.membership,
            administers=standing.administers,
            chat=str(message.chat.id) if message else "",
            topic=topic_of(message) if message else None,
            private=message is not None and message.chat.type == ChatType.PRIVATE,
            message_ref=str(message.message_id) if message else None,
        )

    async def of_message(self, message: Message) -> Arrival:
        """Whoever wrote.

        Its key is its place: update ids begin anew, at random, after a quiet week.
        """
        user = message.from_user
        assert user is not None, "channels are not listened to"
        hidden = speaks_for_the_chat(message)
        standing = OUTSIDE if hidden else await self._standing(message.chat, user)
        return Arrival(
            key=f"message:{message.chat.id}:{message.message_id}",
            identity=_identity(user),
            name=user.full_name,
            membership=standing.membership,
            administers=standing.administers,
            anonymous=hidden,
            chat=str(message.chat.id),
            topic=topic_of(message),
            private=message.chat.type == ChatType.PRIVATE,
            message_ref=str(message.message_id),
        )

    async def _standing(self, chat: Chat, user: User) -> Standing:
        """Ask the chat now; nobody is let in because it did not say."""
        if user.is_bot:
            return Standing(Membership.BOT)
        if chat.type == ChatType.PRIVATE:
            return Standing(Membership.FULL, administers=True)
        try:
            return standing_of(await self._bot.get_chat_member(chat.id, user.id))
        except (TelegramError, LookupError, TypeError) as error:
            # The last two: a server of another version, whose answer the library cannot read.
            log.warning("telegram:%s does not say who is in it: %s", chat.id, type(error).__name__)
            return OUTSIDE


def _identity(user: User) -> Identity:
    return Identity(platform=Platform.TELEGRAM, account=str(user.id))
