"""Telegram: the token, privacy mode, and the bot's standing in its rooms."""

from collections.abc import Sequence

from telegram import Bot, ChatMemberAdministrator, ChatMemberRestricted, User, WebhookInfo
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
            found = await bot.get_webhook_info()
            lines = [ok(PART, f"@{me.username}"), _privacy(me), _updates(settings, found)]
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


def _updates(settings: TelegramSettings, found: WebhookInfo) -> Line:
    """How presses and commands reach us."""
    part, costs = "telegram updates", "nobody can press or ask in Telegram"
    if settings.webhook_secret is None:
        replaced = "; `caveat serve` takes away the webhook that is set" if found.url else ""
        return ok(part, f"polled, by one replica at a time{replaced}")
    if found.url and found.last_error_message:
        cure = (
            "make http.public_url reachable from outside, over https, on port 443, 80, 88 or 8443"
        )
        return bad(part, f"Telegram could not post: {found.last_error_message}", cure, costs)
    waiting = f"; {found.pending_update_count} waiting" if found.pending_update_count else ""
    return ok(part, f"posted to http.public_url{waiting}")


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
    if isinstance(member, ChatMemberRestricted) and not member.can_send_messages:
        return bad(part, "the bot may not send messages", "lift its restriction there", _NOBODY)
    if room.topic is not None and not chat.is_forum:
        return bad(part, "it has no topics", "leave `topic` out, or switch topics on", _NOBODY)
    pins = isinstance(member, ChatMemberAdministrator) and bool(member.can_pin_messages)
    rights = member.status + (", may pin" if pins else "")
    topic = f", topic {room.topic}" if room.topic is not None else ""
    return ok(part, f"{chat.title or chat.type}{topic}: {rights}")
