"""What is written to the bot: commands, answers to its questions, and questions to it."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from telegram import Message, MessageEntity, Update
from telegram.constants import ChatType

from bot.chats.arrival import Reply
from bot.chats.commands.commands import Commands
from bot.chats.telegram.accounts import Accounts, speaks_for_the_chat
from bot.chats.telegram.menus import Menus
from bot.chats.telegram.questions import Questions
from bot.chats.telegram.voice import below

VERBS: Mapping[str, str] = {
    "ask": "engage",
    "bind": "bind",
    "engage": "engage",
    "help": "help",
    "link": "link",
    "settings": "settings",
    "status": "status",
}
"""What a command is called here."""


class Command(NamedTuple):
    """A command as it was written."""

    verb: str
    rest: str


def command_of(message: Message, username: str) -> Command | None:
    """The command a message begins with; None without one, or for one of another bot."""
    text = message.text or ""
    mark = next((e for e in message.entities if e.type == MessageEntity.BOT_COMMAND), None)
    if mark is None or mark.offset != 0:
        return None
    name, at, whose = text[1 : mark.length].lower().partition("@")
    if at and whose != username.lower():
        return None
    rest = text[mark.length :].strip()
    private = message.chat.type == ChatType.PRIVATE
    if name == "start" and rest:
        # Both deep links end here: one opens a private chat, the other adds us to a group.
        return Command("link" if private else "bind", rest)
    if name in VERBS:
        return Command(VERBS[name], rest)
    return Command("help", "") if private or at else None


def said_to(message: Message, username: str, bot_id: int) -> str | None:
    """What a message asks of the bot it names or replies to; None where it does neither."""
    text = message.text or ""
    for mark, named in message.parse_entities([MessageEntity.MENTION]).items():
        if named.lower() == f"@{username.lower()}":
            return _without(text, mark)
    for mark in message.entities:
        if mark.type == MessageEntity.TEXT_MENTION and mark.user and mark.user.id == bot_id:
            return _without(text, mark)
    return text.strip() if question_of(message, bot_id) is not None else None


def question_of(message: Message, bot_id: int) -> Message | None:
    """The message of ours that is replied to.

    Whatever is written into a topic is a reply to the message that opened the topic.
    """
    to = message.reply_to_message
    ours = to is not None and to.from_user is not None and to.from_user.id == bot_id
    return to if to is not None and ours and to.forum_topic_created is None else None


def _without(text: str, mark: MessageEntity) -> str:
    """The text around a mark; marks are counted in UTF-16."""
    raw = text.encode("utf-16-le")
    around = raw[: mark.offset * 2] + raw[(mark.offset + mark.length) * 2 :]
    return " ".join(around.decode("utf-16-le").split())


class Messages:
    """Takes what is written to where it belongs; what is not meant for us is left alone."""

    def __init__(
        self, accounts: Accounts, commands: Commands, questions: Questions, menus: Menus
    ) -> None:
        """Take commands to `commands` and answers to `questions`."""
        self._accounts = accounts
        self._commands = commands
        self._questions = questions
        self._menus = menus

    async def message(self, update: Update, context: Any) -> None:
        """Deal with one message."""
        message = update.message
        if message is None or not _is_a_persons(message):
            return
        bot = context.bot
        command = command_of(message, bot.username)
        if command is not None:
            await self._command(message, command)
            return
        question = question_of(message, bot.id)
        if question is not None and await self._answers(message, question):
            return
        said = said_to(message, bot.username, bot.id)
        if said is not None:
            await self._command(message, Command("engage", said))
        elif message.chat.type == ChatType.PRIVATE and not _begins_as_command(message):
            await self._command(message, Command("help", ""))

    async def _command(self, message: Message, command: Command) -> None:
        arrival = await self._accounts.of_message(message)
        reply = await self._commands.say(arrival, command.verb, command.rest)
        if reply is not None:
            await self._questions.reply(reply, below(message), arrival)
        if command.verb == "bind":
            await self._menus.of_chat(arrival.chat)

    async def _answers(self, message: Message, question: Message) -> bool:
        """Whether a reply answered a question of ours."""
        arrival = await self._accounts.of_message(message)
        put = await self._questions.at(arrival, question)
        if put is None:
            return False
        reply: Reply | None = await self._questions.answer(arrival, put, message.text or "")
        if reply is not None:
            await self._questions.reply(reply, below(message), arrival)
        return True


def _is_a_persons(message: Message) -> bool:
    """People, and administrators who hide behind their chat; no bots, channels or forwards."""
    if message.from_user is None or message.via_bot is not None:
        return False
    if message.sender_chat is not None:
        return speaks_for_the_chat(message)
    return not message.from_user.is_bot


def _begins_as_command(message: Message) -> bool:
    return bool(message.entities) and message.entities[0].type == MessageEntity.BOT_COMMAND
