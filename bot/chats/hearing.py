"""Which chats are heard: those that are set up for it."""

from typing import TYPE_CHECKING

from bot.chats.commands.commands import Commands
from bot.chats.inbox import Inbox
from bot.config import Settings
from cards.render.links import Allowed
from engine.ports import Clock
from storage.store import SqlStore

if TYPE_CHECKING:
    from bot.chats.telegram.inbox import TelegramInbox


def telegram_inbox(
    settings: Settings,
    store: SqlStore,
    inbox: Inbox,
    commands: Commands,
    clock: Clock,
    links: Allowed,
) -> "TelegramInbox | None":
    """What hears the Telegram bot; None without a token."""
    if settings.telegram.token is None:
        return None
    from bot.chats.telegram.inbox import TelegramInbox  # noqa: PLC0415 - only where it is used

    return TelegramInbox(
        settings.telegram,
        store=store,
        inbox=inbox,
        commands=commands,
        clock=clock,
        links=links,
        public_url=settings.http.public_url,
    )
