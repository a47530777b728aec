"""Every Web API method of the double, each with the scope it needs."""

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from bot.drill.doubles import slack_chat, slack_views
from bot.drill.doubles.arguments import flag, nested
from bot.drill.doubles.slack_chat import RefusedError, channel_of
from bot.drill.doubles.slack_names import BOT_ID, BOT_USER, TEAM, Json
from bot.drill.doubles.slack_room import Channel, File, Workspace

MOST_ALT = 1000
"""Characters that tell what a file shows."""


@dataclass(frozen=True)
class Method:
    """What one method does, and the scope without which it is refused."""

    run: Callable[[Workspace, Json], Json]
    scope: str | None = None
    private_scope: str | None = None
    """The scope for private channels, where it is another one."""
    of_app: bool = False
    """It takes the app's own token instead of the bot's."""


def auth_test(_space: Workspace, _given: Json) -> Json:
    """auth.test."""
    url = "https://rehearsal.slack.example/"
    return {
        "url": url,
        "team": "rehearsal",
        "user": "caveat",
        "team_id": TEAM,
        "user_id": BOT_USER,
        "bot_id": BOT_ID,
        "is_enterprise_install": False,
    }


def history(space: Workspace, given: Json) -> Json:
    """conversations.history: newest first, replies left out."""
    channel = channel_of(space, given)
    oldest, limit = str(given.get("oldest") or "0"), int(given.get("limit") or 100)
    inclusive = flag(given.get("inclusive"))
    found = [
        message.wire(with_metadata=flag(given.get("include_all_metadata")))
        for message in reversed(list(channel.roots()))
        if message.ts > oldest or (inclusive and message.ts == oldest)
    ]
    return {"messages": found[:limit], "has_more": len(found) > limit}


def replies(space: Workspace, given: Json) -> Json:
    """conversations.replies: the root, then its thread, oldest first."""
    channel, ts = channel_of(space, given), str(given.get("ts"))
    if ts not in channel.messages:
        raise RefusedError("thread_not_found")
    with_metadata = flag(given.get("include_all_metadata"))
    thread = [channel.messages[ts], *channel.replies(ts)]
    said = [message.wire(with_metadata=with_metadata) for message in thread]
    return {"messages": said, "has_more": False}


def seen(space: Workspace, given: Json) -> Channel:
    """Find a channel the bot may look at without being in it."""
    channel = space.find(str(given.get("channel", "")))
    if channel is None or (channel.is_private and BOT_USER not in channel.members):
        raise RefusedError("channel_not_found")
    return channel


def info(space: Workspace, given: Json) -> Json:
    """conversations.info."""
    return {"channel": seen(space, given).wire()}


def listing(space: Workspace, given: Json) -> Json:
    """conversations.list: what the bot may see, on one page."""
    open_only = flag(given.get("exclude_archived"))
    found = [
        channel.wire()
        for channel in space.channels.values()
        if (BOT_USER in channel.members or not channel.is_private)
        and not (open_only and channel.is_archived)
    ]
    return {"channels": found, "response_metadata": {"next_cursor": ""}}


def members(space: Workspace, given: Json) -> Json:
    """conversations.members: a page at a time."""
    found = sorted(seen(space, given).members)
    start, limit = int(given.get("cursor") or 0), int(given.get("limit") or 100)
    end = start + min(limit, 1000)
    cursor = str(end) if end < len(found) else ""
    return {"members": found[start:end], "response_metadata": {"next_cursor": cursor}}


def user(space: Workspace, given: Json) -> Json:
    """users.info."""
    name = space.people.get(who := str(given.get("user")))
    if name is None:
        raise RefusedError("user_not_found")
    powers = ("is_admin", "is_owner", "is_primary_owner", "is_restricted", "is_ultra_restricted")
    usual = {
        "id": who,
        "team_id": TEAM,
        "name": name,
        "real_name": name,
        "deleted": False,
        "profile": {"display_name": name, "real_name": name},
        "tz": "Etc/UTC",
        "is_bot": who == BOT_USER,
        "is_app_user": False,
    }
    return {"user": {**usual, **dict.fromkeys(powers, False), **space.profiles.get(who, {})}}


def usergroup(space: Workspace, given: Json) -> Json:
    """usergroups.users.list."""
    if str(given.get("usergroup")) not in space.usergroups:
        raise RefusedError("no_such_subteam")
    return {"users": space.usergroups[str(given["usergroup"])]}


def connection(space: Workspace, _given: Json) -> Json:
    """apps.connections.open: an address that works once."""
    if space.socket_url is None:
        raise RefusedError("internal_error")
    ticket = secrets.token_hex(8)
    space.tickets.add(ticket)
    return {"url": f"{space.socket_url}?ticket={ticket}&app_id=A0CAVEAT"}


def react(space: Workspace, given: Json) -> Json:
    """reactions.add."""
    message = channel_of(space, given).messages.get(str(given.get("timestamp")))
    if message is None:
        raise RefusedError("message_not_found")
    mark = (str(given["name"]), BOT_USER)
    if mark in message.reactions:
        raise RefusedError("already_reacted")
    message.reactions.append(mark)
    return {}


def unreact(space: Workspace, given: Json) -> Json:
    """reactions.remove."""
    message = channel_of(space, given).messages.get(str(given.get("timestamp")))
    mark = (str(given["name"]), BOT_USER)
    if message is None or mark not in message.reactions:
        raise RefusedError("no_reaction" if message else "message_not_found")
    message.reactions.remove(mark)
    return {}


def announce_file(space: Workspace, given: Json) -> Json:
    """files.getUploadURLExternal."""
    length = int(given.get("length") or 0)
    if not given.get("filename") or length <= 0:
        raise RefusedError("invalid_arguments")
    if len(str(given.get("alt_txt") or "")) > MOST_ALT:
        raise RefusedError("invalid_arguments")
    file = File(f"F{len(space.files) + 1:08d}", str(given["filename"]), length)
    file.alt_text = str(given.get("alt_txt") or "")
    space.files[file.id] = file
    return {"file_id": file.id, "upload_url": f"{given['_base_url']}/upload/{file.id}"}


def share_files(space: Workspace, given: Json) -> Json:
    """files.completeUploadExternal: the files become one message, if a channel is named."""
    wanted = {str(each["id"]): str(each.get("title") or "") for each in nested(given["files"])}
    for name in wanted:
        if name not in space.files or space.files[name].content is None:
            raise RefusedError("file_not_found")
    for name, title in wanted.items():
        space.files[name].title = title
    if given.get("channel_id"):
        if given["channel_id"] not in space.channels:
            raise RefusedError("channel_not_found")
        comment = str(given.get("initial_comment") or "")
        shared = {"channel": given["channel_id"], "thread_ts": given.get("thread_ts")}
        posted = slack_chat.post(space, shared | {"text": comment or "file"})
        message = channel_of(space, shared).messages[posted["ts"]]
        message.text, message.files = comment, list(wanted)
        message.file_names = [space.files[name].name for name in wanted]
    return {"files": [{"id": name, "title": title} for name, title in wanted.items()]}


METHODS: Mapping[str, Method] = {
    "auth.test": Method(auth_test),
    "chat.postMessage": Method(slack_chat.post, "chat:write"),
    "chat.update": Method(slack_chat.update, "chat:write"),
    "chat.postEphemeral": Method(slack_chat.whisper, "chat:write"),
    "chat.delete": Method(slack_chat.delete, "chat:write"),
    "chat.getPermalink": Method(slack_chat.permalink),
    "conversations.history": Method(history, "channels:history", "groups:history"),
    "conversations.replies": Method(replies, "channels:history", "groups:history"),
    "conversations.info": Method(info, "channels:read", "groups:read"),
    "conversations.list": Method(listing, "channels:read"),
    "conversations.members": Method(members, "channels:read", "groups:read"),
    "users.info": Method(user, "users:read"),
    "usergroups.users.list": Method(usergroup, "usergroups:read"),
    "views.open": Method(slack_views.open_),
    "views.update": Method(slack_views.update),
    "apps.connections.open": Method(connection, of_app=True),
    "reactions.add": Method(react, "reactions:write"),
    "reactions.remove": Method(unreact, "reactions:write"),
    "files.getUploadURLExternal": Method(announce_file, "files:write"),
    "files.completeUploadExternal": Method(share_files, "files:write"),
}
