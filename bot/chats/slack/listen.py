"""Bolt's listeners: each acknowledges first, and only then looks at anything."""

import asyncio
import logging
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from slack_bolt.async_app import AsyncApp
from slack_bolt.authorization import AuthorizeResult
from slack_bolt.context.ack.async_ack import AsyncAck
from slack_bolt.context.async_context import AsyncBoltContext

from bot.chats.slack import delivery as read
from bot.chats.slack.client import bot_token, connect
from bot.chats.slack.delivery import Delivery
from bot.chats.slack.inbox import SlackInbox
from bot.config import SlackSettings
from cards.render.slack_form import CALLBACK, NEEDED, NOTE

log = logging.getLogger(__name__)

SHORTCUT = "caveat.ask_message"
ANYTHING = re.compile(r"")
Body = dict[str, Any]


class Listeners:
    """What Slack delivers, one method a kind."""

    def __init__(self, inbox: SlackInbox) -> None:
        """Hand everything to `inbox`."""
        self._inbox = inbox
        self._running: set[asyncio.Task[Any]] = set()

    def app(self, settings: SlackSettings) -> AsyncApp:
        """Make Bolt's app; who may send to it is looked at before it."""
        token = bot_token(settings)

        async def authorize(enterprise_id: str | None, team_id: str | None) -> AuthorizeResult:
            return AuthorizeResult(enterprise_id=enterprise_id, team_id=team_id, bot_token=token)

        made = AsyncApp(
            name="caveat",
            logger=log,
            client=connect(settings),
            authorize=authorize,
            request_verification_enabled=False,
        )
        made.action(ANYTHING)(self.pressed)
        made.view(CALLBACK)(self.sent)
        made.view(NOTE)(self.nothing)
        made.command("/engage")(self.commanded)
        made.command("/caveat")(self.commanded)
        made.shortcut(SHORTCUT)(self.shortcut)
        made.event("app_mention")(self.mentioned)
        made.event(ANYTHING)(self.nothing)
        made.error(self.broke)
        return made

    async def drain(self, longest_s: float) -> None:
        """Wait for what was acknowledged and is not answered yet."""
        if self._running:
            await asyncio.wait(self._running, timeout=longest_s)

    async def pressed(self, ack: AsyncAck, body: Body, context: AsyncBoltContext) -> None:
        """Take a press; a link opens by itself, and a modal's menus are no presses."""
        await ack()
        done = read.press(body)
        if done.opens_link or "message" not in body:
            return
        async with self._attending(context, done):
            await self._inbox.press(done)

    async def sent(self, ack: AsyncAck, body: Body, context: AsyncBoltContext) -> None:
        """Take a form; Slack shows what is missing in it."""
        done = read.form(body)
        errors = {name: NEEDED for name in done.needed if not done.values.get(name)}
        if errors:
            await ack(response_action="errors", errors=errors)
            return
        await ack()
        async with self._attending(context, done):
            await self._inbox.hand_in(done)

    async def commanded(self, ack: AsyncAck, body: Body, context: AsyncBoltContext) -> None:
        """Take a slash command."""
        await ack()
        done = read.command(body)
        async with self._attending(context, done):
            await self._inbox.say(done)

    async def mentioned(self, ack: AsyncAck, body: Body, context: AsyncBoltContext) -> None:
        """Take what was said to the bot by its name."""
        await ack()
        done = read.mention(body)
        if done is not None:
            async with self._attending(context, done):
                await self._inbox.say(done)

    async def shortcut(self, ack: AsyncAck, body: Body, context: AsyncBoltContext) -> None:
        """Take a message somebody wants looked into."""
        await ack()
        done = read.shortcut(body)
        async with self._attending(context, done):
            await self._inbox.say(done)

    async def nothing(self, ack: AsyncAck) -> None:
        """Take what needs no answer."""
        await ack()

    async def broke(self, error: Exception, context: AsyncBoltContext) -> None:
        """Log what nobody expected, and tell who waits for an answer."""
        log.error("a delivery of Slack was not dealt with", exc_info=error)
        done = context.get("delivery")
        if isinstance(done, Delivery):
            await self._inbox.broke(done)

    @asynccontextmanager
    async def _attending(self, context: AsyncBoltContext, done: Delivery) -> AsyncIterator[None]:
        """Let a stop wait for this, and an error find who waits."""
        context["delivery"] = done
        task = asyncio.current_task()
        assert task is not None, "listeners run in tasks"
        self._running.add(task)
        try:
            yield
        finally:
            self._running.discard(task)
