"""What each of Slack's refusals means for the outbox."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping

import aiohttp
from slack_sdk.errors import SlackApiError, SlackClientError
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from bot.chats.chat import (
    Ambiguous,
    Failure,
    Gone,
    RateLimited,
    Refused,
    RoomBroken,
    TokenDead,
    Unreachable,
)

LONGEST_WAIT_S = 3600.0
SHORTEST_WAIT_S = 1.0
TOO_MANY = 429
SERVER_ERROR = 500

_DEAD = (
    "invalid_auth token_revoked token_expired account_inactive not_authed missing_scope "
    "not_allowed_token_type org_login_required team_access_not_granted"
)
_ROOM = (
    "channel_not_found not_in_channel is_archived restricted_action channel_is_archived "
    "restricted_action_read_only_channel cannot_reply_to_message"
)
_GONE = (
    "message_not_found cant_update_message edit_window_closed thread_not_found "
    "cant_broadcast_message"
)
_UNSURE = "internal_error fatal_error request_timeout service_unavailable"
_KINDS: Mapping[str, Callable[..., Failure]] = {
    **dict.fromkeys(_DEAD.split(), TokenDead),
    **dict.fromkeys(_ROOM.split(), RoomBroken),
    **dict.fromkeys(_GONE.split(), Gone),
    **dict.fromkeys(_UNSURE.split(), Ambiguous),
}


async def asked(call: Callable[[], Awaitable[AsyncSlackResponse]]) -> AsyncSlackResponse | Failure:
    """Call Slack once: its answer, or what went wrong."""
    try:
        return await call()
    except SlackApiError as error:
        return meaning(error)
    except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError) as error:
        return Unreachable(reason=type(error).__name__)
    except (TimeoutError, asyncio.IncompleteReadError, aiohttp.ClientError) as error:
        return Ambiguous(reason=type(error).__name__)
    except SlackClientError as error:
        return Ambiguous(reason=type(error).__name__)


def meaning(error: SlackApiError) -> Failure:
    """Read a refusal; one nobody knows is about what was sent, never a reason to repeat it."""
    answer = error.response
    status = int(getattr(answer, "status_code", None) or getattr(answer, "status", None) or 0)
    body = getattr(answer, "data", None)
    said = body if isinstance(body, dict) else {}
    name = str(said.get("error") or "")
    if status == TOO_MANY or name in ("ratelimited", "rate_limited"):
        return RateLimited(wait_s=_wait_s(getattr(answer, "headers", {})))
    if not name or status >= SERVER_ERROR:
        return Ambiguous(reason=f"{name or 'no Slack answer'} ({status})")
    return _KINDS.get(name, Refused)(reason=_reason(name, said))


def _reason(name: str, said: Mapping[str, object]) -> str:
    """Slack's word with what it adds: the missing scope, the place of a bad block."""
    more = said.get("needed")
    told = said.get("response_metadata")
    if isinstance(told, Mapping) and told.get("messages"):
        more = "; ".join(str(message) for message in told["messages"][:3])
    return f"{name}: {more}"[:500] if more else name


def _wait_s(headers: Mapping[str, str]) -> float:
    """What Slack asked for; it never says zero."""
    asked_s = next((v for k, v in headers.items() if k.lower() == "retry-after"), "")
    wait_s = float(asked_s) if asked_s.isdigit() else SHORTEST_WAIT_S
    return min(max(wait_s, SHORTEST_WAIT_S), LONGEST_WAIT_S)
