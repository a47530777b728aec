"""Slack, outgoing: cards as Block Kit, found again by the nonce in their metadata."""

from datetime import datetime, timedelta
from functools import partial
from typing import Any

from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from bot.chats.chat import (
    Absent,
    Ambiguous,
    Blind,
    FindResult,
    Image,
    RateLimited,
    Refused,
    SendResult,
    Sent,
    Shape,
    TokenDead,
    Traits,
    Unchanged,
    Unreachable,
)
from bot.chats.slack.client import bot_token, connect
from bot.chats.slack.errors import asked
from bot.config import SlackSettings
from cards.card import Card
from cards.render import slack as render
from cards.render.limits import smaller
from engine.model.base import canonical_json
from engine.model.org import Platform, Room

SKEW = timedelta(minutes=2)
"""How far Slack's clock may be from our database's when we look for a message."""
PAGE = 200
NO_SCOPE = "missing_scope"


def drawn(card: Card, shape: Shape, nonce: str = "") -> render.SlackMessage:
    """A card as Slack's arguments."""
    if shape.plain:
        return render.plain(card, key=nonce)
    return render.render(smaller(card) if shape.smaller else card, shape.links, key=nonce)


class SlackChat:
    """One Slack workspace."""

    platform = Platform.SLACK
    traits = Traits(finds=True, silences=False, pictures=True)

    def __init__(self, client: AsyncWebClient) -> None:
        """Speak through a client that repeats nothing by itself."""
        self._client = client

    @classmethod
    def from_settings(cls, settings: SlackSettings) -> "SlackChat":
        """Connect with the configured token."""
        return cls(connect(settings, token=bot_token(settings)))

    def draw(self, card: Card, shape: Shape) -> str:
        """What would be sent, as text."""
        message = drawn(card, shape)
        return canonical_json({"text": message.text, "blocks": message.blocks})

    async def post(
        self, room: Room, card: Card, shape: Shape, *, nonce: str, audible: bool
    ) -> SendResult:
        """Post a new message; Slack knows no silent one."""
        del audible
        return await self._post(room, drawn(card, shape, nonce), thread=None)

    async def reply(
        self, room: Room, card_ref: str, card: Card, shape: Shape, *, nonce: str, audible: bool
    ) -> SendResult:
        """Post into the card's thread."""
        del audible
        return await self._post(room, drawn(card, shape, nonce), thread=card_ref)

    async def edit(self, room: Room, ref: str, card: Card, shape: Shape, nonce: str) -> SendResult:
        """Replace what a message says."""
        message = drawn(card, shape, nonce)
        said = await asked(
            lambda: self._client.chat_update(channel=room.chat, ts=ref, **_said(message))
        )
        return Sent(ref=ref) if isinstance(said, AsyncSlackResponse) else said

    async def picture(
        self, room: Room, card_ref: str, image: Image, *, nonce: str, ref: str | None
    ) -> SendResult:
        """Upload a picture into the card's thread; its name is the nonce it is found by.

        Slack tells no message id here, and a picture is never replaced: the file's id stands in.
        """
        if ref is not None:
            return Unchanged()
        said = await asked(
            lambda: self._client.files_upload_v2(
                channel=room.chat,
                thread_ts=card_ref,
                filename=picture_name(nonce),
                file=image.png,
                title=image.title,
                alt_txt=image.alt,
            )
        )
        if isinstance(said, AsyncSlackResponse):
            return Sent(ref=str(said["files"][0]["id"]))
        if isinstance(said, TokenDead) and said.reason.startswith(NO_SCOPE):
            # Only pictures are off: cards go on.
            return Refused(reason=said.reason)
        return said

    async def find(
        self, room: Room, nonce: str, card_ref: str | None, since: datetime
    ) -> FindResult:
        """Look through what was posted lately, or through the card's thread."""
        oldest = str((since - SKEW).timestamp())
        more: dict[str, Any] = {"channel": room.chat, "include_all_metadata": True, "limit": PAGE}
        cursor = None
        while True:
            page = more | {"oldest": oldest, "cursor": cursor}
            said = await asked(partial(self._page, page, card_ref))
            if isinstance(said, Ambiguous):
                return Unreachable(reason=said.reason)
            if not isinstance(said, AsyncSlackResponse):
                later = isinstance(said, RateLimited | Unreachable | TokenDead)
                return said if later else Blind(reason=str(said))
            for message in said.get("messages") or []:
                if _nonce_of(message) == nonce or _shows(message, picture_name(nonce)):
                    return Sent(ref=str(message["ts"]))
            cursor = (said.get("response_metadata") or {}).get("next_cursor")
            if not cursor:
                return Absent()

    async def _page(self, page: dict[str, Any], card_ref: str | None) -> AsyncSlackResponse:
        if card_ref is None:
            return await self._client.conversations_history(**page)
        return await self._client.conversations_replies(ts=card_ref, **page)

    async def _post(
        self, room: Room, message: render.SlackMessage, thread: str | None
    ) -> SendResult:
        said = await asked(
            lambda: self._client.chat_postMessage(
                channel=room.chat,
                thread_ts=thread,
                unfurl_links=False,
                unfurl_media=False,
                **_said(message),
            )
        )
        if isinstance(said, AsyncSlackResponse):
            return Sent(ref=str(said["ts"]), chat_id=str(said["channel"]))
        return said


def _said(message: render.SlackMessage) -> dict[str, Any]:
    return {
        "text": message.text,
        "blocks": list(message.blocks),
        "metadata": message.metadata,
    }


def picture_name(nonce: str) -> str:
    """The file name of a picture."""
    return f"chart-{nonce}.png"


def _shows(message: dict[str, Any], name: str) -> bool:
    return any(file.get("name") == name for file in message.get("files") or [])


def _nonce_of(message: dict[str, Any]) -> str:
    metadata = message.get("metadata") or {}
    return str((metadata.get("event_payload") or {}).get("key") or "")
