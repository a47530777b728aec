"""Two web sockets to Slack, held up whatever happens to either of them."""

import asyncio
import logging
from functools import partial

from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from bot.chats.slack.errors import asked
from engine.ports import Clock

log = logging.getLogger(__name__)

CONNECTIONS = 2
"""While Slack makes one of them anew, the other is there."""
PING_S = 5.0
CONNECT_S = 15.0
LOOK_S = 0.5
"""How often is looked whether a connection stands."""
PATIENCE = 2
"""Looks at a connection that is down, before it is made anew from nothing."""
FIRST_WAIT_S = 1.0
LONGEST_WAIT_S = 60.0


class Sockets:
    """Connections that are there as long as Slack lets them."""

    def __init__(self, app: AsyncApp, client: AsyncWebClient, app_token: str, clock: Clock) -> None:
        """Bring what arrives to `app`."""
        self._app = app
        self._client = client
        self._app_token = app_token
        self._clock = clock

    async def run(self, stop: asyncio.Event) -> None:
        """Hold the connections until `stop`, then close them; nothing that happens ends it."""
        await asyncio.gather(*(self._keep(stop) for _ in range(CONNECTIONS)))

    async def _keep(self, stop: asyncio.Event) -> None:
        while not stop.is_set():
            (ended,) = await asyncio.gather(self._hold(stop), return_exceptions=True)
            if isinstance(ended, Exception):
                log.error("a socket of Slack failed; it is made anew", exc_info=ended)
                await self._stopped(stop, LONGEST_WAIT_S)

    async def _hold(self, stop: asyncio.Event) -> None:
        wait_s = FIRST_WAIT_S
        while not stop.is_set():
            handler = self._handler()
            try:
                if await self._connected(handler):
                    wait_s = FIRST_WAIT_S
                    await self._stands(handler, stop)
            finally:
                await handler.close_async()  # type: ignore[no-untyped-call]
            if not await self._stopped(stop, wait_s):
                wait_s = min(2 * wait_s, LONGEST_WAIT_S)

    def _handler(self) -> AsyncSocketModeHandler:
        made = AsyncSocketModeHandler(
            self._app,
            self._app_token,
            logger=log,
            web_client=self._client,
            ping_interval=PING_S,
        )
        made.client.proxy = self._client.proxy  # it reads the environment where none is given
        return made

    async def _connected(self, handler: AsyncSocketModeHandler) -> bool:
        said = await asked(partial(self._client.apps_connections_open, app_token=self._app_token))
        if not isinstance(said, AsyncSlackResponse):
            log.warning("Slack gives no socket: %s", said)
            return False
        handler.client.wss_uri = str(said["url"])
        try:
            async with self._clock.timeout(CONNECT_S):
                await handler.connect_async()  # type: ignore[no-untyped-call]
        except TimeoutError:
            log.warning("Slack's socket could not be reached")
            return False
        return True

    async def _stands(self, handler: AsyncSocketModeHandler, stop: asyncio.Event) -> None:
        """Stay as long as the connection does; the library renews it by itself at most times."""
        down = 0
        while down < PATIENCE:
            if await self._stopped(stop, LOOK_S):
                return
            down = 0 if await handler.client.is_connected() else down + 1
        log.warning("a socket of Slack is down; it is made anew")

    async def _stopped(self, stop: asyncio.Event, longest_s: float) -> bool:
        """Wait a while, or until the stop."""
        try:
            async with self._clock.timeout(longest_s):
                await stop.wait()
        except TimeoutError:
            return False
        return True
