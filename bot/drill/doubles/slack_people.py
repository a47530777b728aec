"""What people in the rehearsal workspace do, and how the app hears of it."""

import asyncio
import secrets
from dataclasses import dataclass

from bot.drill.doubles import slack_deliver, slack_payloads
from bot.drill.doubles.slack_deliver import Delivery, Sockets
from bot.drill.doubles.slack_names import BOT_USER, Json
from bot.drill.doubles.slack_room import Answerable, Channel, Message, Workspace


@dataclass(frozen=True)
class Address:
    """Where the app takes signed requests."""

    url: str
    secret: str


class People:
    """Presses, commands, mentions and forms, each delivered once unless told otherwise."""

    def __init__(self, space: Workspace, sockets: Sockets) -> None:
        self.space, self.sockets = space, sockets
        self.over_http: Address | None = None
        """None: over web sockets."""
        self.respond_at = "http://127.0.0.1:9/response"
        """Where answers to a response_url are taken."""

    async def presses(
        self, channel_id: str, ts: str, what: str, user: str, *, shown: Message | None = None
    ) -> Delivery:
        """Press what says `what` on a message; `shown` is an earlier version on a slow screen."""
        channel = self.space.channels[channel_id]
        message = shown or channel.messages[ts]
        pressed = slack_payloads.pressable(message, what, self.space.stamp())
        return await self.presses_any(channel, message, pressed, user)

    async def presses_any(
        self, channel: Channel, message: Message, pressed: Json, user: str
    ) -> Delivery:
        """Press something that may not stand on the message."""
        said = slack_payloads.press(
            self.space, channel, message, pressed, user, self._response_url(channel.id, user)
        )
        return await self.deliver("interactive", said)

    async def submits(self, view_id: str, said: dict[str, str], user: str) -> Delivery:
        """Send a modal, filled in by block id, and do with it what the app answers."""
        view = self.space.modals.open[view_id]
        values = slack_payloads.filled(view, said)
        payload = slack_payloads.submission(self.space, view, values, user)
        delivery = await self.deliver("interactive", payload)
        answer = await delivery.acknowledged()
        if not answer:
            del self.space.modals.open[view_id]
        elif unknown := answer.get("errors", {}).keys() - values.keys():
            raise LookupError(f"Slack shows no error for blocks that are not there: {unknown}")
        return delivery

    def closes(self, view_id: str) -> None:
        """Close a modal."""
        del self.space.modals.open[view_id]

    async def commands(self, channel_id: str, name: str, words: str, user: str) -> Delivery:
        """Say a slash command; a direct message is a channel that begins with D."""
        url = self._response_url(channel_id, user)
        said = slack_payloads.command(self.space, channel_id, name, words, user, url)
        return await self.deliver("slash_commands", dict(said))

    async def mentions(
        self, channel_id: str, user: str, words: str, *, thread_ts: str | None = None
    ) -> Delivery:
        """Name the bot in a message of a channel it is in."""
        channel = self.space.channels[channel_id]
        if BOT_USER not in channel.members:
            raise LookupError("Slack tells the app nothing of channels it is not in")
        said = f"<@{BOT_USER}> {slack_payloads.escaped(self.space, words)}"
        message = Message(self.space.stamp(), said, user=user, thread_ts=thread_ts)
        channel.messages[message.ts] = message
        event = slack_payloads.mention(self.space, channel, message)
        return await self.deliver("events_api", event)

    async def asks_about(self, channel_id: str, ts: str, name: str, user: str) -> Delivery:
        """Use the shortcut `name` of a message."""
        channel = self.space.channels[channel_id]
        url = self._response_url(channel_id, user)
        message = channel.messages[ts]
        said = slack_payloads.shortcut(self.space, channel, message, name, user, url)
        return await self.deliver("interactive", said)

    async def deliver(self, kind: str, payload: Json) -> Delivery:
        """Send something to the app."""
        sent_s = asyncio.get_running_loop().time()
        delivery = Delivery(kind, payload, secrets.token_hex(12), sent_s)
        await self._send(delivery)
        return delivery

    async def again(self, delivery: Delivery) -> None:
        """Deliver once more, as after an answer that was lost."""
        delivery.attempts += 1
        await self._send(delivery)

    async def _send(self, delivery: Delivery) -> None:
        if self.over_http is None:
            await self.sockets.send(delivery)
            return
        at_s = int(self.space.now().timestamp())
        await slack_deliver.request(delivery, self.over_http.url, self.over_http.secret, at_s)

    def _response_url(self, channel_id: str, user: str) -> str:
        """An address that takes five answers to what a person did."""
        name = secrets.token_hex(8)
        self.space.answerable[name] = Answerable(channel_id, user)
        return f"{self.respond_at}/{name}"
