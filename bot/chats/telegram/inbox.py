"""Telegram, incoming: updates are polled or posted to us, and taken to where they belong."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

from pydantic import SecretStr
from telegram import Update
from telegram.error import TelegramError
from telegram.ext import (
    Application,
    CallbackQueryHandler,
    ChatMemberHandler,
    MessageHandler,
    filters,
)
from telegram.request import HTTPXRequest

from bot.chats.commands.commands import Commands
from bot.chats.inbox import Inbox
from bot.chats.telegram.accounts import Accounts
from bot.chats.telegram.menus import Menus
from bot.chats.telegram.messages import Messages
from bot.chats.telegram.order import ChatByChat
from bot.chats.telegram.polling import Polling
from bot.chats.telegram.presses import Presses
from bot.chats.telegram.questions import Questions
from bot.chats.telegram.rooms import Rooms
from bot.chats.telegram.voice import Voice
from bot.chats.telegram.webhook import Webhook
from bot.config import TelegramSettings
from cards import asking
from cards.render.links import Allowed
from engine.errors import StoreUnavailableError
from engine.ports import Clock
from storage.store import SqlStore

log = logging.getLogger(__name__)

App = Application[Any, Any, Any, Any, Any, Any]
CONNECTIONS = 16
TIMEOUT_S = 10
AGAIN_S = 10.0
DRAIN_S = 5.0
"""How long what was taken may still be dealt with at the end."""


class TelegramInbox:
    """One bot, listening."""

    def __init__(
        self,
        settings: TelegramSettings,
        *,
        store: SqlStore,
        inbox: Inbox,
        commands: Commands,
        clock: Clock,
        links: Allowed,
        public_url: str | None = None,
    ) -> None:
        """Prepare; `run` listens."""
        self._settings = settings
        self._store = store
        self._inbox = inbox
        self._commands = commands
        self._clock = clock
        self._links = links
        self._public_url = public_url
        self._app: App | None = None

    @property
    def secret(self) -> SecretStr | None:
        """What Telegram proves itself with; None where it is polled."""
        return self._settings.webhook_secret

    async def take(self, posted: Any) -> bool:
        """Take an update that was posted to us; False while we are not listening."""
        if self._app is None:
            return False
        await self._app.update_queue.put(Update.de_json(posted, self._app.bot))
        return True

    async def run(self) -> None:
        """Listen until cancelled; Telegram being away is waited out, for as long as it takes."""
        while True:
            try:
                async with self._listening() as app:
                    await self._hear(app)
            except TelegramError as error:
                log.warning("telegram is not heard: %s; trying again", type(error).__name__)
            await self._clock.sleep(AGAIN_S)

    async def _hear(self, app: App) -> None:
        menus = asyncio.create_task(self._menus(app))
        try:
            if self.secret is not None and self._public_url is not None:
                await Webhook(app.bot, self._clock, self._public_url, self.secret).run()
            else:
                await Polling(app.bot, self._store, self._clock, app.update_queue.put).run()
        finally:
            menus.cancel()
            await asyncio.gather(menus, return_exceptions=True)

    async def _menus(self, app: App) -> None:
        with suppress(StoreUnavailableError):
            await Menus(app.bot, self._store).everywhere()

    @asynccontextmanager
    async def _listening(self) -> AsyncIterator[App]:
        """An application at work; leaving it deals with what was taken."""
        app = self._application()
        await app.initialize()
        try:
            await app.start()
            self._app = app
            yield app
        finally:
            self._app = None
            if app.running:
                with suppress(TimeoutError):
                    async with asyncio.timeout(DRAIN_S):
                        await app.stop()
            with suppress(RuntimeError):
                await app.shutdown()

    def _application(self) -> App:
        own = self._settings
        token = own.token.get_secret_value() if own.token else ""
        app: App = (
            Application.builder()
            .token(token)
            .base_url(own.base_url)
            .request(_request(own, CONNECTIONS))
            .get_updates_request(_request(own, 1))
            .concurrent_updates(ChatByChat())
            .updater(None)
            .job_queue(None)
            .build()
        )
        self._handle(app)
        return app

    def _handle(self, app: App) -> None:
        voice, accounts = Voice(app.bot, self._links), Accounts(app.bot)
        questions = Questions(self._store, self._inbox, voice)
        menus = Menus(app.bot, self._store)
        rooms = Rooms(self._store, menus)
        self._presses = Presses(app.bot, accounts, self._inbox, questions, voice)
        messages = Messages(accounts, self._commands, questions, menus)
        fresh = filters.UpdateType.MESSAGE
        app.add_handler(CallbackQueryHandler(self._presses.press))
        app.add_handler(ChatMemberHandler(rooms.changed, ChatMemberHandler.MY_CHAT_MEMBER))
        app.add_handler(MessageHandler(fresh & filters.StatusUpdate.MIGRATE, rooms.grown))
        app.add_handler(MessageHandler(fresh & filters.TEXT, messages.message))
        app.add_error_handler(self._failed)

    async def _failed(self, update: object, context: Any) -> None:
        """Say what failed by its class, never in its words; a press is answered all the same."""
        number = update.update_id if isinstance(update, Update) else None
        log.error("update %s failed: %s", number, type(context.error).__name__)
        if isinstance(update, Update) and update.callback_query is not None:
            away = isinstance(context.error, StoreUnavailableError)
            line = asking.AWAY if away else asking.FAULT
            await self._presses.toast(update.callback_query, line, alert=True)


def _request(settings: TelegramSettings, connections: int) -> HTTPXRequest:
    return HTTPXRequest(
        connection_pool_size=connections,
        read_timeout=TIMEOUT_S,
        write_timeout=TIMEOUT_S,
        connect_timeout=TIMEOUT_S,
        pool_timeout=TIMEOUT_S,
        proxy=settings.proxy,
        httpx_kwargs={"trust_env": False},
    )
