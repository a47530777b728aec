"""What each of Telegram's refusals means for the outbox."""

import re
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import TypeVar

import httpx
from telegram.error import (
    BadRequest,
    ChatMigrated,
    Forbidden,
    InvalidToken,
    RetryAfter,
    TelegramError,
)

from bot.chats.chat import (
    Ambiguous,
    Failure,
    Gone,
    Moved,
    RateLimited,
    Refused,
    RoomBroken,
    TokenDead,
    Unchanged,
    Unreachable,
)

T = TypeVar("T")

UNCHANGED = re.compile("message is not modified", re.IGNORECASE)
GONE = re.compile(
    "message to (edit|reply|be replied) not found|message can't be edited|MESSAGE_ID_INVALID",
    re.IGNORECASE,
)
ROOM = re.compile(
    "chat not found|bot was kicked|bot was blocked|not enough rights|have no rights|"
    "need administrator rights|CHAT_WRITE_FORBIDDEN|CHAT_RESTRICTED|PEER_ID_INVALID|deactivated",
    re.IGNORECASE,
)
TOPIC_GONE = re.compile("message thread not found|TOPIC_(CLOSED|DELETED)", re.IGNORECASE)
_NEVER_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)


async def asked(call: Callable[[], Awaitable[T]]) -> T | Unchanged | Failure:
    """Call Telegram once: its answer, or what went wrong."""
    try:
        return await call()
    except TelegramError as error:
        return meaning(error)


def meaning(error: TelegramError) -> Unchanged | Failure:
    """Read a refusal by its class, and a bad request by its words."""
    said = str(error)[:300]
    match error:
        case RetryAfter():
            return RateLimited(wait_s=_wait_s(error))
        case ChatMigrated():
            return Moved(chat_id=str(error.new_chat_id))
        case InvalidToken():
            # Its words hold the token.
            return TokenDead(reason="Telegram does not know the token, or base_url is wrong")
        case Forbidden():
            return RoomBroken(reason=said)
        case BadRequest():
            return _bad(said)
        case _:
            return _lost(error)


def _lost(error: TelegramError) -> Failure:
    """Without an answer it is not known whether anything was posted, unless it never left."""
    if isinstance(error.__cause__, _NEVER_SENT):
        return Unreachable(reason=type(error.__cause__).__name__)
    return Ambiguous(reason=str(error)[:300] or type(error).__name__)


def _bad(said: str) -> Unchanged | Failure:
    if UNCHANGED.search(said):
        return Unchanged()
    if GONE.search(said):
        return Gone(reason=said)
    if ROOM.search(said):
        return RoomBroken(reason=said)
    return Refused(reason=said)


def _wait_s(error: RetryAfter) -> float:
    """What Telegram asked for; a number or a duration, as the library is set up."""
    asked_for = error._retry_after  # noqa: SLF001 - the public name warns whichever type it gives
    assert isinstance(asked_for, timedelta)
    return max(1.0, asked_for.total_seconds())
