"""Answers for one account alone: below the card, or by the address Slack gave for it."""

import logging
from collections.abc import Iterator

from aiohttp import ClientError
from slack_sdk.errors import SlackClientError
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse
from slack_sdk.webhook.async_client import AsyncWebhookClient

from bot.chats.arrival import Shown, Told
from bot.chats.slack.client import TIMEOUT_S
from bot.chats.slack.delivery import Delivery
from bot.chats.slack.errors import asked
from cards.render import slack as render
from cards.render.links import Allowed
from cards.render.slack_form import told

log = logging.getLogger(__name__)

OK = 200


class Whispers:
    """Tells accounts what their presses came to."""

    def __init__(self, client: AsyncWebClient, links: Allowed) -> None:
        """Speak through a client; `links` says which links may be links."""
        self._client = client
        self._links = links

    async def tell(self, delivery: Delivery, reply: Told | Shown) -> None:
        """Answer where it is seen; a card that Slack refuses is told as plain text."""
        for message in self._drawn(reply):
            if await self._sent(delivery, message):
                return
        log.warning("%s got no answer: Slack took none", delivery.account)

    def _drawn(self, reply: Told | Shown) -> Iterator[render.SlackMessage]:
        if isinstance(reply, Told):
            yield told(reply.line, self._links)
            return
        yield render.render(reply.card, self._links)
        yield render.plain(reply.card)

    async def _sent(self, delivery: Delivery, message: render.SlackMessage) -> bool:
        """A command is answered by its address, which works in rooms the bot is not in."""
        ways = [self._whispered, self._responded]
        if delivery.about is None and delivery.response_url is not None:
            ways.reverse()
        for way in ways:
            if await way(delivery, message):
                return True
        return False

    async def _whispered(self, delivery: Delivery, message: render.SlackMessage) -> bool:
        if not delivery.channel:
            return False
        said = await asked(
            lambda: self._client.chat_postEphemeral(
                channel=delivery.channel,
                user=delivery.account,
                text=message.text,
                blocks=list(message.blocks),
                thread_ts=delivery.thread,
            )
        )
        if isinstance(said, AsyncSlackResponse):
            return True
        log.info("no whisper to %s in %s: %s", delivery.account, delivery.channel, said)
        return False

    async def _responded(self, delivery: Delivery, message: render.SlackMessage) -> bool:
        if delivery.response_url is None:
            return False
        address = AsyncWebhookClient(
            delivery.response_url, timeout=TIMEOUT_S, trust_env_in_session=False, retry_handlers=[]
        )
        address.proxy = self._client.proxy
        body = {"text": message.text, "blocks": list(message.blocks)}
        rules = {"response_type": "ephemeral", "replace_original": False}
        try:
            said = await address.send_dict({**body, **rules})
        except (SlackClientError, ClientError, TimeoutError) as error:
            log.info("no answer by address to %s: %s", delivery.account, type(error).__name__)
            return False
        return said.status_code == OK
