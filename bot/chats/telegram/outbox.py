"""Telegram, outgoing: cards as HTML through the Bot API."""

from datetime import datetime
from functools import partial
from typing import Any

from telegram import (
    Bot,
    InlineKeyboardButton,
    InlineKeyboardMarkup,
    InputMediaPhoto,
    LinkPreviewOptions,
    Message,
    ReplyParameters,
)
from telegram.constants import ParseMode
from telegram.request import HTTPXRequest

from bot.chats.chat import (
    Blind,
    FindResult,
    Image,
    Refused,
    SendResult,
    Sent,
    Shape,
    Traits,
)
from bot.chats.telegram.errors import TOPIC_GONE, asked
from bot.config import TelegramSettings
from cards.card import Card
from cards.render import telegram as render
from cards.render.limits import smaller
from engine.model.base import canonical_json
from engine.model.org import Platform, Room

TIMEOUT_S = 10
CONNECT_S = 5
CONNECTIONS = 32
NO_PREVIEW = LinkPreviewOptions(is_disabled=True)


def drawn(card: Card, shape: Shape) -> render.TelegramMessage:
    """A card as Telegram's arguments."""
    if shape.plain:
        return render.plain(card)
    return render.render(smaller(card) if shape.smaller else card, shape.links)


def markup(message: render.TelegramMessage) -> InlineKeyboardMarkup | None:
    """The keys below a message."""
    rows = [
        [
            InlineKeyboardButton(
                key.label, callback_data=key.data, style="success" if key.primary else None
            )
            for key in row
        ]
        for row in message.keyboard
    ]
    return InlineKeyboardMarkup(rows) if rows else None


class TelegramChat:
    """One Telegram bot."""

    platform = Platform.TELEGRAM
    traits = Traits(finds=False, silences=True, pictures=True, redraws=True)

    def __init__(self, bot: Bot) -> None:
        """Speak through a bot; it repeats nothing by itself."""
        self._bot = bot

    @classmethod
    def from_settings(cls, settings: TelegramSettings) -> "TelegramChat":
        """Connect with the configured token."""
        request = HTTPXRequest(
            connection_pool_size=CONNECTIONS,
            read_timeout=TIMEOUT_S,
            write_timeout=TIMEOUT_S,
            connect_timeout=CONNECT_S,
            pool_timeout=CONNECT_S,
            proxy=settings.proxy,
            httpx_kwargs={"trust_env": False},
        )
        token = settings.token.get_secret_value() if settings.token else ""
        return cls(Bot(token, base_url=settings.base_url, request=request))

    async def close(self) -> None:
        """Let the connections go."""
        await self._bot.request.shutdown()

    def draw(self, card: Card, shape: Shape) -> str:
        """What would be sent, as text."""
        message = drawn(card, shape)
        # What a key stands for counts as well: one that names another finding must be sent.
        keys = [[key.label, key.data] for row in message.keyboard for key in row]
        return canonical_json({"text": message.text, "keys": keys}) if keys else message.text

    async def post(
        self, room: Room, card: Card, shape: Shape, *, nonce: str, audible: bool
    ) -> SendResult:
        """Post a new message; Telegram keeps no nonce."""
        del nonce
        return await self._post(room, drawn(card, shape), None, audible=audible)

    async def reply(
        self, room: Room, card_ref: str, card: Card, shape: Shape, *, nonce: str, audible: bool
    ) -> SendResult:
        """Reply to the card; stands alone when the card is not there any more."""
        del nonce
        to = ReplyParameters(int(card_ref), allow_sending_without_reply=True)
        return await self._post(room, drawn(card, shape), to, audible=audible)

    async def edit(self, room: Room, ref: str, card: Card, shape: Shape, nonce: str) -> SendResult:
        """Replace what a message says."""
        del nonce
        message = drawn(card, shape)
        said = await asked(
            lambda: self._bot.edit_message_text(
                chat_id=room.chat,
                message_id=int(ref),
                text=message.text,
                parse_mode=ParseMode.HTML if message.html else None,
                link_preview_options=NO_PREVIEW,
                reply_markup=markup(message),
            )
        )
        return Sent(ref=ref) if isinstance(said, Message | bool) else said

    async def picture(
        self, room: Room, card_ref: str, image: Image, *, nonce: str, ref: str | None
    ) -> SendResult:
        """Reply to the card with a photo, or put another one in its place."""
        caption = render.apart(image.alt)
        if ref is None:
            photo = partial(self._photo, room, card_ref, image.png, caption)
            said = await photo(room.topic)
            lost = isinstance(said, Refused) and TOPIC_GONE.search(said.reason)
            return await photo(None) if room.topic and lost else said
        media = InputMediaPhoto(image.png, caption=caption, filename=f"{nonce}.png")
        edited = await asked(
            lambda: self._bot.edit_message_media(media, chat_id=room.chat, message_id=int(ref))
        )
        return Sent(ref=ref) if isinstance(edited, Message | bool) else edited

    async def _photo(
        self, room: Room, card_ref: str, png: bytes, caption: str, topic: int | None
    ) -> SendResult:
        said = await asked(
            lambda: self._bot.send_photo(
                room.chat,
                png,
                caption=caption,
                disable_notification=True,
                message_thread_id=topic,
                reply_parameters=ReplyParameters(int(card_ref), allow_sending_without_reply=True),
            )
        )
        return Sent(ref=str(said.message_id)) if isinstance(said, Message) else said

    async def find(
        self, room: Room, nonce: str, card_ref: str | None, since: datetime
    ) -> FindResult:
        """Say that bots cannot read what they posted."""
        del room, nonce, card_ref, since
        return Blind()

    async def _post(
        self,
        room: Room,
        message: render.TelegramMessage,
        to: ReplyParameters | None,
        *,
        audible: bool,
    ) -> SendResult:
        """Post; when the topic is closed or gone, into the chat itself."""
        said = await self._send(room, message, room.topic, to, silent=not audible)
        if room.topic and isinstance(said, Refused) and TOPIC_GONE.search(said.reason):
            return await self._send(room, message, None, to, silent=not audible)
        return said

    async def _send(
        self,
        room: Room,
        message: render.TelegramMessage,
        topic: int | None,
        to: ReplyParameters | None,
        *,
        silent: bool,
    ) -> SendResult:
        given: dict[str, Any] = {"message_thread_id": topic, "reply_parameters": to}
        said = await asked(
            lambda: self._bot.send_message(
                chat_id=room.chat,
                text=message.text,
                parse_mode=ParseMode.HTML if message.html else None,
                link_preview_options=NO_PREVIEW,
                reply_markup=markup(message),
                disable_notification=silent,
                **given,
            )
        )
        if isinstance(said, Message):
            return Sent(ref=str(said.message_id), chat_id=str(said.chat_id))
        return said
