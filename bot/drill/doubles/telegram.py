"""Telegram's Bot API over loopback."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from bot.drill.doubles import arguments, telegram_messages
from bot.drill.doubles.arguments import Arguments, Upload
from bot.drill.doubles.faults import Answer, Fault, FaultLine, Now, answer, prevents, suffer
from bot.drill.doubles.telegram_commands import delete_commands, get_commands, set_commands
from bot.drill.doubles.telegram_members import member_wire
from bot.drill.doubles.telegram_people import Crowd
from bot.drill.doubles.telegram_room import BOT, Message, Space, of_bot
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


class TelegramDouble(Crowd):
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
        super().__init__(now, reads_all=reads_all)
        self.token, self.strict_rate = token, strict_rate
        self.calls: list[Call] = []
        self.faults = FaultLine()
        route = Route("/bot{token}/{method}", self._serve, methods=["GET", "POST"])
        self.app = Starlette(routes=[route])

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
            "setMyCommands": partial(set_commands, self.space),
            "getMyCommands": partial(get_commands, self.space),
            "deleteMyCommands": partial(delete_commands, self.space),
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
        return member_wire(self.space.users[who], status)

    def _answer_press(self, given: Json) -> bool:
        began = self.space.presses.pop(str(given.get("callback_query_id")), None)
        if began is None or self.now() - began > PRESS_LIVES:
            why = "query is too old and response timeout expired or query ID is invalid"
            raise bad_request(why)
        if units(str(given.get("text") or "")) > MAX_TOAST:
            raise bad_request("MESSAGE_TOO_LONG")
        self.space.answers.append(given)
        return True

    def _record(self, name: str, given: Arguments, error: str | None) -> None:
        self.calls.append(Call(name, given.values, self.now(), error))
