"""Slack, incoming: everything between a delivery and its answer, put together."""

import asyncio
import logging

from fastapi import Request
from fastapi.responses import PlainTextResponse, Response

from bot.chats.commands.commands import Commands
from bot.chats.inbox import Inbox
from bot.chats.slack.client import bot_token, connect
from bot.chats.slack.groups import Usergroups
from bot.chats.slack.inbox import SlackInbox
from bot.chats.slack.listen import Listeners
from bot.chats.slack.people import Directory
from bot.chats.slack.signed import SignedRequests
from bot.chats.slack.socket import Sockets
from bot.chats.slack.whispers import Whispers
from bot.config import SlackSettings
from cards.render.links import Allowed
from engine.ports import Clock

log = logging.getLogger(__name__)

DRAIN_S = 10.0
"""Longest wait at the end for answers to what was acknowledged."""


class SlackFront:
    """Takes what Slack delivers: by web socket where there is an app token, else by HTTP."""

    def __init__(
        self,
        settings: SlackSettings,
        *,
        inbox: Inbox,
        commands: Commands,
        links: Allowed,
        clock: Clock,
    ) -> None:
        """Put the parts together; nothing is asked and nothing runs yet."""
        client = connect(settings, token=bot_token(settings))
        self._groups = Usergroups(client, clock, settings.usergroups)
        self._listeners = Listeners(
            SlackInbox(
                client,
                inbox=inbox,
                commands=commands,
                directory=Directory(client, clock),
                groups=self._groups,
                whispers=Whispers(client, links),
            )
        )
        app = self._listeners.app(settings)
        self._sockets: Sockets | None = None
        self._signed: SignedRequests | None = None
        if settings.app_token is not None:
            self._sockets = Sockets(app, client, settings.app_token.get_secret_value(), clock)
        elif settings.signing_secret is not None:
            self._signed = SignedRequests(app, settings.signing_secret.get_secret_value(), clock)

    async def run(self, stop: asyncio.Event) -> None:
        """Take deliveries until `stop`; then take no more, and answer what is acknowledged."""
        groups = asyncio.create_task(self._groups.keep_fresh())
        try:
            if self._sockets is not None:
                await self._sockets.run(stop)
            await stop.wait()
            await self._listeners.drain(DRAIN_S)
        finally:
            groups.cancel()
            await asyncio.gather(groups, return_exceptions=True)

    async def read_groups(self) -> None:
        """Read now who is in the groups that stand for roles."""
        await self._groups.read()

    async def take(self, request: Request) -> Response:
        """Take a request of Slack's."""
        if self._signed is None:
            return PlainTextResponse("Slack is not taken over HTTP here", 404)
        return await self._signed.take(request)
