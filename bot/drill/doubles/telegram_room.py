"""Chats as a Telegram bot sees them: members, topics, messages."""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from itertools import count
from typing import Literal

from bot.drill.doubles.faults import Now
from bot.drill.doubles.telegram_html import Entity, Formatted
from bot.drill.doubles.telegram_words import Json, RefusedError, bad_request

BOT: Json = {"id": 700000001, "is_bot": True, "first_name": "Caveat", "username": "caveat_bot"}

Kind = Literal["private", "group", "supergroup"]


@dataclass
class Message:
    """One message as it stands now."""

    id: int
    chat_id: int
    sender: Json
    body: Formatted
    sent_at: datetime
    markup: Json | None = None
    thread_id: int | None = None
    reply_to: int | None = None
    silent: bool = False
    attachment: Literal["photo", "document"] | None = None
    file: bytes = b""
    edits: int = 0
    service: Json = field(default_factory=dict)
    """What it says beside its text: who hid behind the chat, where the chat went."""

    @property
    def text(self) -> str:
        """What a reader sees, captions included."""
        return self.body.text

    @property
    def buttons(self) -> list[Json]:
        """Its inline buttons, row by row."""
        return [button for row in (self.markup or {}).get("inline_keyboard", []) for button in row]


@dataclass
class Chat:
    """A chat with its messages, oldest first."""

    id: int
    kind: Kind = "supergroup"
    title: str = "on-call"
    standing: Literal["member", "administrator", "restricted", "kicked", "left"] = "member"
    """Of the bot; `kicked` in a private chat means blocked."""
    topics: dict[int, bool] = field(default_factory=dict)
    """Forum topics by thread id, and whether each is open."""
    members: dict[int, str] = field(default_factory=dict)
    """Status by user id."""
    migrated_to: int | None = None
    messages: dict[int, Message] = field(default_factory=dict)
    busy: deque[datetime] = field(default_factory=deque)
    """When it was last written to, edits included."""

    def wire(self) -> Json:
        """Say it as the Bot API does."""
        named = {"first_name": self.title} if self.kind == "private" else {"title": self.title}
        forum = {"is_forum": True} if self.topics else {}
        return {"id": self.id, "type": self.kind, **named, **forum}


class Space:
    """Everything the double knows."""

    def __init__(self, now: Now) -> None:
        self.now = now
        self.chats: dict[int, Chat] = {}
        self.users: dict[int, Json] = {int(BOT["id"]): BOT}
        self.presses: dict[str, datetime] = {}
        """When each callback query began."""
        self.answers: list[Json] = []
        """What the presses were answered with."""
        self.commands: dict[str, list[Json]] = {}
        """Command menus by scope."""
        self.next_id = count(1)

    def find(self, chat_id: object) -> Chat:
        """Find a chat the bot may speak in, or refuse as Telegram does."""
        try:
            chat = self.chats[int(str(chat_id))]
        except (KeyError, ValueError):
            raise bad_request("chat not found") from None
        if chat.migrated_to is not None:
            reason = "Bad Request: group chat was upgraded to a supergroup chat"
            raise RefusedError(400, reason, migrate_to_chat_id=chat.migrated_to)
        if chat.standing == "kicked" and chat.kind == "private":
            raise RefusedError(403, "Forbidden: bot was blocked by the user")
        if chat.standing == "kicked":
            raise RefusedError(403, f"Forbidden: bot was kicked from the {chat.kind} chat")
        if chat.standing == "left":
            raise RefusedError(403, f"Forbidden: bot is not a member of the {chat.kind} chat")
        return chat

    def wire(self, message: Message) -> Json:
        """Say a message as the Bot API does."""
        chat = self.chats[message.chat_id]
        said: Json = {
            "message_id": message.id,
            "date": int(message.sent_at.timestamp()),
            "chat": chat.wire(),
            "from": message.sender,
        }
        where = "caption" if message.attachment else "text"
        marks = [entity_wire(each) for each in message.body.entities]
        optional = {
            where: message.text,
            "entities" if where == "text" else "caption_entities": marks,
            # Of what opens a reply field, nothing is said.
            "reply_markup": message.markup if message.buttons else None,
            "message_thread_id": message.thread_id,
            "is_topic_message": message.thread_id in chat.topics,
            "edit_date": int(self.now().timestamp()) if message.edits else None,
            **self._attached(message),
        }
        if message.reply_to in chat.messages:
            optional["reply_to_message"] = self.wire(chat.messages[message.reply_to])
        elif message.thread_id in chat.topics:
            optional["reply_to_message"] = _opening(chat, message.thread_id)
        return said | {key: value for key, value in optional.items() if value} | message.service

    @staticmethod
    def _attached(message: Message) -> Json:
        name = f"{message.attachment}-{message.id}"
        file = {"file_id": name, "file_unique_id": name, "file_size": len(message.file)}
        match message.attachment:
            case "photo":
                return {"photo": [file | {"width": 90, "height": 60}]}
            case "document":
                return {"document": file}
            case None:
                return {}


def _opening(chat: Chat, topic: int | None) -> Json:
    """The message that opened a topic; whatever is written into the topic is a reply to it."""
    opened = {"name": "alerts", "icon_color": 7322096}
    where = {"message_id": topic, "message_thread_id": topic, "date": 1, "chat": chat.wire()}
    return where | {"from": BOT, "is_topic_message": True, "forum_topic_created": opened}


ENTITY_KINDS = {
    "b": "bold", "strong": "bold", "i": "italic", "em": "italic", "s": "strikethrough",
    "strike": "strikethrough", "del": "strikethrough", "u": "underline", "ins": "underline",
    "tg-spoiler": "spoiler", "span": "spoiler", "tg-emoji": "custom_emoji", "pre": "pre",
    "code": "code", "a": "text_link", "tg-time": "date_time",
}  # fmt: skip
"""The Bot API's name of what each tag marks."""


def entity_wire(entity: Entity) -> Json:
    """Say an entity as the Bot API does."""
    said: Json = {"offset": entity.offset, "length": entity.length}
    if entity.kind == "blockquote":
        return said | {"type": ("expandable_" if entity.argument else "") + "blockquote"}
    said["type"] = ENTITY_KINDS.get(entity.kind, entity.kind)
    more = {"a": "url", "code": "language", "tg-emoji": "custom_emoji_id"}.get(entity.kind)
    return said | ({more: entity.argument} if more and entity.argument else {})


def of_bot(messages: dict[int, Message]) -> Iterator[Message]:
    """Go through the bot's own messages, oldest first."""
    return (message for message in messages.values() if message.sender is BOT)
