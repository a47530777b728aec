"""What people do in a bot's chats, and what of it the bot hears."""

import re
from itertools import count
from typing import Literal

from bot.drill.doubles.faults import Now
from bot.drill.doubles.telegram_html import Entity, Formatted
from bot.drill.doubles.telegram_members import member_wire
from bot.drill.doubles.telegram_room import BOT, Chat, Kind, Message, Space
from bot.drill.doubles.telegram_updates import Updates
from bot.drill.doubles.telegram_words import Json, units

ANONYMOUS: Json = {
    "id": 1087968824,
    "is_bot": True,
    "first_name": "Group",
    "username": "GroupAnonymousBot",
}
"""Whom the Bot API names as the sender where an administrator hides behind the group."""
_COMMAND = re.compile(r"/[A-Za-z0-9_]+(@[A-Za-z0-9_]+)?")
_MENTION = re.compile(r"@[A-Za-z0-9_]{4,}")
Status = Literal["member", "administrator", "restricted", "kicked", "left"]


def marked(text: str) -> Formatted:
    """Text as a client sends it: a command at its beginning, names of accounts anywhere."""
    command = _COMMAND.match(text)
    marks = [Entity("bot_command", 0, units(command[0]))] if command else []
    after = command.end() if command else 0
    marks += [
        Entity("mention", units(text[: name.start()]), units(name[0]))
        for name in _MENTION.finditer(text, after)
    ]
    return Formatted(text, tuple(marks))


class Crowd:
    """People, their chats, and the bot among them.

    Args:
        now: The wall clock.
        reads_all: Whether privacy mode is off.
    """

    def __init__(self, now: Now, *, reads_all: bool = False) -> None:
        self.now, self.reads_all = now, reads_all
        self.space = Space(now)
        self.updates = Updates()
        self._press_ids = count(1)

    def chat(self, chat_id: int, kind: Kind = "supergroup") -> Chat:
        """Make a chat with the bot in it."""
        self.space.chats[chat_id] = Chat(chat_id, kind)
        return self.space.chats[chat_id]

    def person(self, user_id: int, name: str, status: str = "member") -> Json:
        """Make a person who is in every chat there is now."""
        user = {"id": user_id, "is_bot": False, "first_name": name, "username": name.lower()}
        self.space.users[user_id] = user
        for chat in self.space.chats.values():
            chat.members[user_id] = status
        return user

    async def says(
        self,
        chat_id: int,
        user_id: int,
        text: str,
        *,
        reply_to: int | None = None,
        topic: int | None = None,
        anonymous: bool = False,
    ) -> Message:
        """Let a person write into a chat; the bot hears of it if it is for the bot's ears."""
        chat = self.space.chats[chat_id]
        message = Message(
            id=next(self.space.next_id),
            chat_id=chat_id,
            sender=ANONYMOUS if anonymous else self.space.users[user_id],
            body=marked(text),
            sent_at=self.now(),
            # A chain of replies is a thread too, which is no topic.
            thread_id=topic or (reply_to if chat.kind == "supergroup" else None),
            reply_to=reply_to,
            service={"sender_chat": chat.wire()} if anonymous else {},
        )
        chat.messages[message.id] = message
        if self._hears(chat, message):
            await self.updates.push("message", self.space.wire(message))
        return message

    async def edits(self, chat_id: int, message_id: int, text: str) -> None:
        """Let a person change what they wrote."""
        chat = self.space.chats[chat_id]
        message = chat.messages[message_id]
        message.body, message.edits = marked(text), message.edits + 1
        if self._hears(chat, message):
            await self.updates.push("edited_message", self.space.wire(message))

    async def presses(
        self, chat_id: int, message_id: int, data: str, user_id: int, *, forgotten: bool = False
    ) -> str:
        """Let a person press a button; gives the id of the query.

        A message that is too old, or deleted, comes without its words.
        """
        query = str(next(self._press_ids))
        self.space.presses[query] = self.now()
        chat = self.space.chats[chat_id]
        gone = {"chat": chat.wire(), "message_id": message_id, "date": 0}
        content = {
            "id": query,
            "from": self.space.users[user_id],
            "message": gone if forgotten else self.space.wire(chat.messages[message_id]),
            "chat_instance": str(chat_id),
            "data": data,
        }
        await self.updates.push("callback_query", content)
        return query

    async def stands(self, chat_id: int, status: Status, by: int) -> None:
        """Let a person change what the bot is in a chat."""
        chat = self.space.chats[chat_id]
        was, chat.standing = chat.standing, status
        content = {
            "chat": chat.wire(),
            "from": self.space.users[by],
            "date": int(self.now().timestamp()),
            "old_chat_member": member_wire(BOT, was),
            "new_chat_member": member_wire(BOT, status),
        }
        await self.updates.push("my_chat_member", content)

    async def grows(self, old: int, new: int) -> Chat:
        """Let a group become a supergroup, which begins without a message; both say so."""
        before = self.space.chats[old]
        chat = self.chat(new)
        chat.members, chat.standing = dict(before.members), before.standing
        for at, said in (
            (before, {"migrate_to_chat_id": new}),
            (chat, {"migrate_from_chat_id": old}),
        ):
            notice = Message(
                id=next(self.space.next_id),
                chat_id=at.id,
                sender=ANONYMOUS,
                body=Formatted(""),
                sent_at=self.now(),
                service=said,
            )
            at.messages[notice.id] = notice
            await self.updates.push("message", self.space.wire(notice))
        before.migrated_to = new
        return chat

    def _hears(self, chat: Chat, message: Message) -> bool:
        """In privacy mode: commands, mentions, and replies to what the bot said."""
        if chat.kind == "private" or self.reads_all or chat.standing == "administrator":
            return chat.standing not in {"kicked", "left"}
        replied = chat.messages.get(message.reply_to or 0)
        spoken = message.text.lower()
        command = _COMMAND.match(spoken)
        named = f"@{BOT['username']}"
        ours = command is not None and (command[1] or named) == named
        return ours or named in spoken or (replied is not None and replied.sender is BOT)
