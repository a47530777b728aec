"""Slack: the token, its scopes, and whether the bot is in its channels."""

from collections.abc import AsyncIterator, Sequence
from typing import Any

from aiohttp import ClientError
from slack_sdk.errors import SlackApiError, SlackClientError
from slack_sdk.web.async_client import AsyncWebClient

from bot.chats.slack.client import bot_token, connect
from bot.chats.slack.manifest import scopes
from bot.cli.checks.line import Line, absent, bad, ok
from bot.config import SlackSettings

PART = "slack"
PAGE = 200
MOST_PAGES = 20
_OF_CHARTS = "files:write"
_OF_PRESSES = frozenset({"users:read", "channels:read", "groups:read", "app_mentions:read"})
"""Who presses is looked up; where nothing can be pressed, nobody is."""
_NOBODY = "nobody sees a card in Slack"


async def slack(settings: SlackSettings, channels: Sequence[str]) -> list[Line]:
    """Ask auth.test, then look at every channel a room names."""
    if settings.bot_token is None:
        return [_no_token(channels)]
    client = connect(settings, token=bot_token(settings))
    try:
        said = await client.auth_test()
    except SlackApiError as error:
        word = str(error.response["error"])
        cure = "install the app again and put its xoxb token into CAVEAT_SLACK_BOT_TOKEN"
        return [bad(PART, f"the token is refused: {word}", cure, _NOBODY)]
    except (SlackClientError, ClientError, TimeoutError) as error:
        cure = f"check that this machine reaches {settings.base_url}; slack.proxy sets a proxy"
        return [bad(PART, f"not reachable ({type(error).__name__})", cure, _NOBODY)]
    held = frozenset(filter(None, _header(said.headers).split(",")))
    lines = [ok(PART, f"{said['user']} in {said['team']}"), *_scopes(held, settings)]
    lines.append(await _app(client, settings))
    return [*lines, *[line async for line in _channels(client, held, channels)]]


def _no_token(channels: Sequence[str]) -> Line:
    cure = "make the app by the link below, and set CAVEAT_SLACK_BOT_TOKEN in .env"
    if channels:
        return bad(PART, f"rooms name {', '.join(channels)}, and there is no token", cure, _NOBODY)
    return absent(PART, "not set up", "give a room `slack:` and a token", "no cards in Slack")


def _header(headers: Any) -> str:
    named = {str(key).lower(): str(value) for key, value in dict(headers).items()}
    return named.get("x-oauth-scopes", "").replace(" ", "")


def _scopes(held: frozenset[str], settings: SlackSettings) -> list[Line]:
    part = "slack scopes"
    needed = scopes("start") if settings.takes else scopes("start") - _OF_PRESSES
    if settings.usergroups:
        needed |= {"usergroups:read"}
    missing = sorted(needed - held)
    if missing and missing != [_OF_CHARTS]:
        cure = "add them under OAuth & Permissions and install the app again"
        costs = "cards, files, threads, presses or roles fail"
        return [bad(part, f"missing: {', '.join(missing)}", cure, costs)]
    off = sorted(scopes("full") - held)
    if off:
        cure = "use the full manifest when you want them"
        costs = "charts are off" if _OF_CHARTS in off else "what needs them is off"
        return [absent(part, f"without {', '.join(off)}", cure, costs)]
    return [ok(part, "all")]


async def _app(client: AsyncWebClient, settings: SlackSettings) -> Line:
    part = "slack app token"
    if settings.app_token is None and settings.signing_secret is None:
        cure = "set CAVEAT_SLACK_APP_TOKEN (xapp-…, scope connections:write)"
        return absent(part, "none", cure, "cards are shown, but buttons and commands do nothing")
    if settings.app_token is None:
        return ok(part, "HTTP mode, with a signing secret; Slack posts to /slack/events")
    token = settings.app_token.get_secret_value()
    if not token.startswith("xapp-"):
        return bad(part, "does not begin with xapp-", "copy it from Basic Information")
    try:
        await client.apps_connections_open(app_token=token)
    except SlackApiError as error:
        cure = "make one with the scope connections:write, and turn Socket Mode on"
        word = str(error.response["error"])
        return bad(part, f"opens no socket: {word}", cure, "buttons and commands do nothing")
    return ok(part, "opens a socket")


async def _channels(
    client: AsyncWebClient, held: frozenset[str], channels: Sequence[str]
) -> AsyncIterator[Line]:
    if not channels:
        return
    if "channels:read" not in held:
        listed = ", ".join(channels)
        cure = f"invite it to be sure: /invite @caveat in {listed}; channels:read would tell"
        yield absent("slack rooms", f"cannot tell of {listed}", cure, "this line only")
        return
    known = await _known(client, private="groups:read" in held)
    for channel in channels:
        yield _channel(channel, known.get(channel.removeprefix("#")))


async def _known(client: AsyncWebClient, *, private: bool) -> dict[str, bool]:
    """Whether the bot is in each channel it may see, by name and by id."""
    kinds = "public_channel,private_channel" if private else "public_channel"
    found: dict[str, bool] = {}
    cursor = ""
    for _ in range(MOST_PAGES):
        page = await client.conversations_list(
            types=kinds, exclude_archived=True, limit=PAGE, cursor=cursor or None
        )
        for one in page["channels"]:
            found[one["name"]] = found[one["id"]] = bool(one.get("is_member"))
        cursor = (page.get("response_metadata") or {}).get("next_cursor") or ""
        if not cursor:
            break
    return found


def _channel(name: str, joined: bool | None) -> Line:
    part = f"slack {name}"
    if joined:
        return ok(part, "the bot is in it")
    said = "the bot is not in it" if joined is False else "no such channel, or a private one"
    return bad(part, said, "/invite @caveat there", "its cards go to the fallback room")
