"""Asking Telegram what is new: one replica at a time, as two at once shut each other out."""

import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress

from telegram import Bot, Update
from telegram.error import Conflict, TelegramError

from engine.errors import StoreUnavailableError
from engine.ports import Clock
from storage.lease import Lease, lease
from storage.store import SqlStore

log = logging.getLogger(__name__)

WANTED = [Update.MESSAGE, Update.CALLBACK_QUERY, Update.MY_CHAT_MEMBER]
"""What we are told of; edits, channels and reactions are not asked for."""
POLL_S = 20
AGAIN_S = 2.0
CONFLICT_S = 5.0

Take = Callable[[Update], Awaitable[None]]


class Polling:
    """Polls while the lease is ours."""

    def __init__(self, bot: Bot, store: SqlStore, clock: Clock, take: Take) -> None:
        """Hand every update to `take`."""
        self._bot = bot
        self._store = store
        self._clock = clock
        self._take = take
        self._offset: int | None = None
        self._said: str | None = None

    async def run(self) -> None:
        """Poll until cancelled; whatever goes wrong is tried again."""
        name = f"telegram updates {self._bot.id}"
        try:
            while True:
                with suppress(StoreUnavailableError):
                    async with lease(self._store, name, self._clock) as ours:
                        await self._while(ours)
                await self._clock.sleep(AGAIN_S)
        finally:
            await self._confirm()

    async def _while(self, ours: Lease) -> None:
        self._offset = None
        while await ours.held():
            try:
                await self._once()
            except Conflict:
                await self._trouble("something else polls with this token, or a webhook is set")
                await self._clock.sleep(CONFLICT_S)
            except (TelegramError, LookupError, TypeError, ValueError) as error:
                # The last three: an update the library cannot read. Never their words, which
                # may hold the token.
                await self._trouble(type(error).__name__)
                await self._clock.sleep(AGAIN_S)
            else:
                self._said = None

    async def _once(self) -> None:
        updates: Sequence[Update] = await self._bot.get_updates(
            offset=self._offset, timeout=POLL_S, allowed_updates=WANTED
        )
        for update in updates:
            await self._take(update)
            self._offset = update.update_id + 1

    async def _trouble(self, what: str) -> None:
        """Say once what is wrong, and make sure that no webhook keeps updates from us."""
        if what != self._said:
            log.warning("telegram is not heard: %s; trying again", what)
        self._said = what
        with suppress(TelegramError):
            if (await self._bot.get_webhook_info()).url:
                log.warning("telegram: a webhook was set; polling is configured, so it goes")
                await self._bot.delete_webhook()

    async def _confirm(self) -> None:
        """Tell Telegram what we took, so that it is not delivered to whoever polls next."""
        if self._offset is not None:
            with suppress(TelegramError):
                await self._bot.get_updates(offset=self._offset, timeout=0)
