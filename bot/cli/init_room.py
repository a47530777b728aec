"""Waits for `/start` in a Telegram room and takes the room's id from it."""

import asyncio
from typing import NamedTuple

from telegram import Bot, Message, Update
from telegram.error import TelegramError
from telegram.request import HTTPXRequest

from bot.cli.errors import CommandError
from bot.config import TelegramSettings

POLL_S = 10


class Found(NamedTuple):
    """The room somebody wrote `/start` in."""

    chat: int
    topic: int | None


def bot_of(settings: TelegramSettings, token: str) -> Bot:
    """A bot that takes its proxy from the configuration only."""
    request = HTTPXRequest(proxy=settings.proxy, httpx_kwargs={"trust_env": False})
    return Bot(token, base_url=settings.base_url, request=request)


async def room_of_start(settings: TelegramSettings, token: str, wait_s: float) -> Found | None:
    """Wait for the first `/start` sent to the bot; None when nobody sent one in time.

    Raises:
        CommandError: Telegram refuses the token, or cannot be reached.
    """
    try:
        async with asyncio.timeout(wait_s), bot_of(settings, token) as bot:
            return await _first_start(bot)
    except TimeoutError:
        return None
    except TelegramError as error:
        raise CommandError(f"Telegram: {error.message}; check the token of BotFather") from None


async def _first_start(bot: Bot) -> Found:
    offset = 0
    while True:
        updates = await bot.get_updates(
            offset=offset, timeout=POLL_S, allowed_updates=[Update.MESSAGE]
        )
        for update in updates:
            offset = update.update_id + 1
            if update.message is not None and _is_start(update.message):
                await bot.get_updates(offset=offset, timeout=0)  # so that it is not told again
                return _found(update.message)


def _is_start(message: Message) -> bool:
    return (message.text or "").split("@")[0].split(" ")[0] == "/start"


def _found(message: Message) -> Found:
    topic = message.message_thread_id if message.is_topic_message else None
    return Found(message.chat.id, topic)
