"""Telegram's Bot API over loopback."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import count

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from bot.drill.doubles import arguments, telegram_messages
from bot.drill.doubles.arguments import Arguments, Upload, nested
from bot.drill.doubles.faults import Answer, Fault, FaultLine, Now, answer, prevents, suffer
from bot.drill.doubles.telegram_html import Entity, Formatted
from bot.drill.doubles.telegram_room import BOT, Chat, Kind, Message, Space, of_bot
from bot.drill.doubles.telegram_updates import Updates
from bot.drill.doubles.telegram_words import (
    Json,
    RefusedError,
    bad_request,
    too_many_requests,
    units,
)

PRESS_LIVES = timedelta(seconds=15)
"""How long a press can be answered."""
MAX_TOAST = 200
COMMAND = re.compile(r"[a-z0-9_]{1,32}")
ADMIN_RIGHTS = [
    *("can_be_edited", "is_anonymous", "can_manage_chat", "can_delete_messages"),
    *("can_manage_video_chats", "can_restrict_members", "can_promote_members"),
    *("can_change_info", "can_invite_users", "can_post_stories", "can_edit_stories"),
    "can_delete_stories",
]
STATUS_NEEDS: Mapping[str, Json] = {
    "creator": {"is_anonymous": False},
    "administrator": dict.fromkeys(ADMIN_RIGHTS, False),
    "kicked": {"until_date": 0},
}
"""What the Bot API says beside a member's status."""

Act = Callable[[Space, Json, dict[str, Upload]], object]

WRITES: Mapping[str, Act] = {
    "sendMessage": telegram_messages.send_text,
    "sendPhoto": telegram_messages.send_photo,
    "sendDocument": telegram_messages.send_document,
    "editMessageText": telegram_messages.edit_text,
    "editMessageMedia": telegram_messages.edit_media,
    "editMessageReplyMarkup": telegram_messages.edit_markup,
}


@dataclass(frozen=True)
class Call:
    """One request as it arrived, and what became of it."""

    method: str
    given: Json
    at: datetime
    error: str | None = None
    """The description of the refusal, or the fault's name; None for what it accepted."""


def refused(code: int, description: str, **parameters: int) -> Answer:
    """Make the fault in which Telegram answers so, such as 403 `Forbidden: ...`."""
    return answer(code, RefusedError(code, description, **parameters).wire())


def rate_limited(retry_after_s: int) -> Answer:
    """Make the fault in which Telegram asks to wait."""
    return answer(429, too_many_requests(retry_after_s).wire())


class TelegramDouble:
    """A Bot API server for one bot, as strict as Telegram's.

    Args:
        now: Its wall clock.
        token: The one bot token it knows.
        strict_rate: Whether a group takes only 20 writes a minute, edits included.
        reads_all: Whether privacy mode is off.
    """

    def __init__(
        self,
        now: Now,
        *,
        token: str = "700000001:rehearsal",  # noqa: S107 - made up, and valid here only
        strict_rate: bool = False,
        reads_all: bool = False,
    ) -> None:
        self.now, self.token = now, token
        self.strict_rate, self.reads_all = strict_rate, reads_all
        self.space = Space(now)
        self.updates = Updates()
        self.calls: list[Call] = []
        self.faults = FaultLine()
        self._press_ids = count(1)
        route = Route("/bot{token}/{method}", self._serve, methods=["GET", "POST"])
        self.app = Starlette(routes=[route])

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

    def fail_next(self, method: str, fault: Fault, times: int = 1) -> None:
        """Let the next `times` calls of `method` end in `fault`."""
        self.faults.add(method, fault, times)

    def messages(self, chat_id: int) -> list[Message]:
        """Give what the bot has in a chat, oldest first."""
        return list(of_bot(self.space.chats[chat_id].messages))

    def audible(self, chat_id: int) -> list[Message]:
        """Give the bot's messages that rang; edits and silent ones do not."""
        return [message for message in self.messages(chat_id) if not message.silent]

    def accepted(self, method: str) -> list[Call]:
        """Give the calls of `method` that took effect, oldest first."""
        return [call for call in self.calls if call.method == method and not call.error]

    async def says(
        self, chat_id: int, user_id: int, text: str, *, reply_to: int | None = None
    ) -> Message:
        """Let a person write into a chat; the bot hears of it."""
        marks = []
        if text.startswith("/"):
            marks.append(Entity("bot_command", 0, units(text.split(maxsplit=1)[0])))
        message = Message(
            id=next(self.space.next_id),
            chat_id=chat_id,
            sender=self.space.users[user_id],
            body=Formatted(text, tuple(marks)),
            sent_at=self.now(),
            reply_to=reply_to,
        )
        self.space.chats[chat_id].messages[message.id] = message
        await self.updates.push("message", self.space.wire(message))
        return message

    async def presses(self, chat_id: int, message_id: int, data: str, user_id: int) -> str:
        """Let a person press a button; gives the id of the query."""
        query = str(next(self._press_ids))
        self.space.presses[query] = self.now()
        message = self.space.chats[chat_id].messages[message_id]
        content = {
            "id": query,
            "from": self.space.users[user_id],
            "message": self.space.wire(message),
            "chat_instance": str(chat_id),
            "data": data,
        }
        await self.updates.push("callback_query", content)
        return query

    async def _serve(self, request: Request) -> Response:
        name, token = request.path_params["method"], request.path_params["token"]
        given = await arguments.read(request)

        async def accept() -> Response:
            return await self._answer(name, token, given)

        fault = self.faults.take(name)
        if prevents(fault):
            self._record(name, given, type(fault).__name__)
        return await suffer(fault, accept)

    async def _answer(self, name: str, token: str, given: Arguments) -> Response:
        """Run a method, or say in Telegram's words why not."""
        try:
            result = await self._run(name, token, given)
        except RefusedError as no:
            self._record(name, given, no.description)
            return JSONResponse(no.wire(), no.code)
        self._record(name, given, None)
        return JSONResponse({"ok": True, "result": result})

    async def _run(self, name: str, token: str, given: Arguments) -> object:
        if token != self.token:
            known = ":" in token
            raise RefusedError(401 if known else 404, "Unauthorized" if known else "Not Found")
        if name in WRITES:
            chat = self.space.find(given.values.get("chat_id"))
            telegram_messages.take_turn(self.space, chat, strict=self.strict_rate)
            return WRITES[name](self.space, given.values, given.files)
        if name == "deleteMessage":
            return telegram_messages.delete(self.space, given.values, given.files)
        if name == "getUpdates":
            return await self.updates.get(given.values)
        quiet = self._quiet()
        if name not in quiet:
            raise RefusedError(404, "Not Found")
        return quiet[name](given.values)

    def _quiet(self) -> Mapping[str, Callable[[Json], object]]:
        """List the methods that write nothing into a chat."""
        return {
            "getMe": self._me,
            "getChat": self._chat,
            "getChatMember": self._member,
            "answerCallbackQuery": self._answer_press,
            "setMyCommands": self._commands,
            "setWebhook": self.updates.set_webhook,
            "deleteWebhook": lambda given: self.updates.set_webhook(given | {"url": ""}),
            "getWebhookInfo": lambda _: self.updates.webhook_info(),
        }

    def _me(self, _given: Json) -> Json:
        rights = {"can_join_groups": True, "can_read_all_group_messages": self.reads_all}
        return BOT | rights | {"supports_inline_queries": False}

    def _chat(self, given: Json) -> Json:
        chat = self.space.find(given.get("chat_id"))
        return chat.wire() | {"accent_color_id": 0, "max_reaction_count": 11}

    def _member(self, given: Json) -> Json:
        chat = self.space.find(given.get("chat_id"))
        who = int(given.get("user_id") or 0)
        if who not in self.space.users:
            raise bad_request("invalid user_id specified")
        status = chat.standing if who == BOT["id"] else chat.members.get(who, "left")
        return {"user": self.space.users[who], "status": status} | STATUS_NEEDS.get(status, {})

    def _answer_press(self, given: Json) -> bool:
        began = self.space.presses.pop(str(given.get("callback_query_id")), None)
        if began is None or self.now() - began > PRESS_LIVES:
            why = "query is too old and response timeout expired or query ID is invalid"
            raise bad_request(why)
        if units(str(given.get("text") or "")) > MAX_TOAST:
            raise bad_request("MESSAGE_TOO_LONG")
        self.space.answers.append(given)
        return True

    def _commands(self, given: Json) -> bool:
        commands = nested(given.get("commands") or "[]")
        if any(not COMMAND.fullmatch(str(each["command"])) for each in commands):
            raise bad_request("BOT_COMMAND_INVALID")
        self.space.commands[str(given.get("scope") or "default")] = commands
        return True

    def _record(self, name: str, given: Arguments, error: str | None) -> None:
        self.calls.append(Call(name, given.values, self.now(), error))
