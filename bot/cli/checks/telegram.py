"""Telegram: the token, privacy mode, and the bot's standing in its rooms."""

from collections.abc import Sequence

from telegram import Bot, ChatMemberAdministrator, User
from telegram.error import InvalidToken, NetworkError, TelegramError

from bot.cli.checks.line import Line, absent, bad, ok
from bot.cli.init_room import bot_of
from bot.config import RoomSettings, TelegramSettings

PART = "telegram"
_NOBODY = "nobody sees a card in Telegram"
_GONE = {"left", "kicked"}


async def telegram(settings: TelegramSettings, rooms: Sequence[RoomSettings]) -> list[Line]:
    """Ask getMe, then look at every chat a room names."""
    if settings.token is None:
        return [_no_token(rooms)]
    try:
        async with bot_of(settings, settings.token.get_secret_value()) as bot:
            me = await bot.get_me()
            lines = [ok(PART, f"@{me.username}"), _privacy(me)]
            return [*lines, *[await _room(bot, me, room) for room in rooms]]
    except InvalidToken:
        cure = "copy the token from BotFather into CAVEAT_TELEGRAM_TOKEN"
        return [bad(PART, "the token is refused", cure, _NOBODY)]
    except NetworkError as error:
        cure = f"check that this machine reaches {settings.base_url}; telegram.proxy sets a proxy"
        return [bad(PART, f"not reachable ({type(error).__name__})", cure, _NOBODY)]


def _no_token(rooms: Sequence[RoomSettings]) -> Line:
    if rooms:
        cure = "set CAVEAT_TELEGRAM_TOKEN in .env"
        return bad(PART, f"{len(rooms)} room(s) and no token", cure, _NOBODY)
    return absent(PART, "not set up", "give a room `telegram:` and a token", "no cards in Telegram")


def _privacy(me: User) -> Line:
    if me.can_read_all_group_messages:
        return ok("telegram privacy", "off: it hears every message of its rooms")
    return ok("telegram privacy", "on: it hears commands, replies and mentions; that is enough")


async def _room(bot: Bot, me: User, room: RoomSettings) -> Line:
    assert room.telegram is not None, "a Telegram room has a chat"
    part = f"telegram {room.telegram}"
    try:
        chat = await bot.get_chat(room.telegram)
        member = await bot.get_chat_member(room.telegram, me.id)
    except TelegramError as error:
        cure = "add the bot to the chat; a supergroup's id begins with -100"
        return bad(part, error.message, cure, _NOBODY)
    if member.status in _GONE:
        return bad(part, f"the bot has {member.status} it", "add it again", _NOBODY)
    if room.topic is not None and not chat.is_forum:
        return bad(part, "it has no topics", "leave `topic` out, or switch topics on", _NOBODY)
    pins = isinstance(member, ChatMemberAdministrator) and bool(member.can_pin_messages)
    rights = member.status + (", may pin" if pins else "")
    topic = f", topic {room.topic}" if room.topic is not None else ""
    return ok(part, f"{chat.title or chat.type}{topic}: {rights}")
