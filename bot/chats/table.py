"""Which chats there are: those with a token, and always our own console or log."""

from collections.abc import Mapping

from rich.console import Console

from bot.chats.chat import Chat
from bot.chats.console.log import LogChat
from bot.chats.console.outbox import ConsoleChat
from bot.config import Settings
from engine.model.org import Platform


def chats(settings: Settings, console: Console | None = None) -> Mapping[Platform, Chat]:
    """Connect every configured chat; nothing is asked yet.

    A chat's client library is loaded only where it is used: it costs start-up time and memory.
    """
    made: dict[Platform, Chat] = {Platform.CONSOLE: ConsoleChat(console) if console else LogChat()}
    if settings.slack.bot_token is not None:
        from bot.chats.slack.outbox import SlackChat  # noqa: PLC0415 - see above

        made[Platform.SLACK] = SlackChat.from_settings(settings.slack)
    if settings.telegram.token is not None:
        from bot.chats.telegram.outbox import TelegramChat  # noqa: PLC0415 - see above

        made[Platform.TELEGRAM] = TelegramChat.from_settings(settings.telegram)
    return made
