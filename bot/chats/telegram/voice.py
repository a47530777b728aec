"""What the bot says below a message: short, and without a sound."""

import logging
from collections.abc import Sequence
from typing import NamedTuple

from telegram import (
    Bot,
    ForceReply,
    InlineKeyboardButton,
    InlineKeyboardMarkup,
    MaybeInaccessibleMessage,
    Message,
    ReplyParameters,
)
from telegram.constants import ParseMode

from bot.chats.chat import Failure, Refused, Shape, Unchanged
from bot.chats.telegram.errors import TOPIC_GONE, asked
from bot.chats.telegram.outbox import NO_PREVIEW, drawn
from cards.card import Card
from cards.render.links import Allowed

log = logging.getLogger(__name__)

Keys = Sequence[tuple[str, str]]
"""Label and data, one key a row."""


class Place(NamedTuple):
    """Below which message something is said."""

    chat: int
    message: int
    topic: int | None


def topic_of(message: MaybeInaccessibleMessage) -> int | None:
    """The topic a message stands in.

    A chain of replies in the general topic carries a thread id as well, which no send takes.
    """
    if not isinstance(message, Message) or not message.is_topic_message:
        return None
    return message.message_thread_id


def below(message: MaybeInaccessibleMessage) -> Place:
    """Below this message."""
    return Place(message.chat.id, message.message_id, topic_of(message))


def keyboard(keys: Keys) -> InlineKeyboardMarkup:
    """Keys of a question."""
    return InlineKeyboardMarkup([[InlineKeyboardButton(key, callback_data=d)] for key, d in keys])


class Voice:
    """Says things below messages."""

    def __init__(self, bot: Bot, links: Allowed) -> None:
        """Speak through a bot; cards may link to `links`."""
        self._bot = bot
        self._links = links

    async def say(
        self, place: Place, card: Card, markup: InlineKeyboardMarkup | ForceReply | None = None
    ) -> int | None:
        """Say a card silently; gives the id of the message, None when it could not be said."""
        said = await self._send(place, card, markup)
        if isinstance(said, Refused) and place.topic and TOPIC_GONE.search(said.reason):
            place = place._replace(topic=None)
            said = await self._send(place, card, markup)
        if isinstance(said, Refused):
            log.error("telegram refused what was said below a message: %s", said.reason)
            said = await self._send(place, card, markup, plain=True)
        if isinstance(said, Message):
            return said.message_id
        log.warning("nothing could be said in telegram:%s: %s", place.chat, type(said).__name__)
        return None

    async def take_back(self, message: MaybeInaccessibleMessage) -> None:
        """Delete a question that was answered; one that cannot be deleted stays."""
        await asked(lambda: self._bot.delete_message(message.chat.id, message.message_id))

    async def _send(
        self,
        place: Place,
        card: Card,
        markup: InlineKeyboardMarkup | ForceReply | None,
        *,
        plain: bool = False,
    ) -> Message | Unchanged | Failure:
        message = drawn(card, Shape(plain=plain, links=self._links))
        to = ReplyParameters(place.message, allow_sending_without_reply=True)
        return await asked(
            lambda: self._bot.send_message(
                chat_id=place.chat,
                text=message.text,
                parse_mode=ParseMode.HTML if message.html else None,
                link_preview_options=NO_PREVIEW,
                reply_markup=markup,
                disable_notification=True,
                message_thread_id=place.topic,
                reply_parameters=to,
            )
        )
