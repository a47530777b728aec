"""What Slack sends when a person does something.

Source: docs.slack.dev, interaction payloads, slash commands and the Events API.
"""

import html
from collections.abc import Iterator
from typing import Any

from bot.drill.doubles.slack_modals import View
from bot.drill.doubles.slack_names import APP, BOT_USER, TEAM, TEAM_DOMAIN, Json
from bot.drill.doubles.slack_room import Channel, Message, Workspace

TOKEN = "verification-token-nobody-reads"  # noqa: S105 - Slack's old way, sent to this day


def _whole(space: Workspace, user: str) -> Json:
    name = space.people[user]
    return {
        "user": {"id": user, "username": name, "name": name, "team_id": TEAM},
        "api_app_id": APP,
        "token": TOKEN,
        "trigger_id": space.modals.trigger(user, space.now()),
        "team": {"id": TEAM, "domain": TEAM_DOMAIN},
        "enterprise": None,
        "is_enterprise_install": False,
    }


def press(
    space: Workspace, channel: Channel, message: Message, pressed: Json, user: str, respond_at: str
) -> Json:
    """A button or a menu entry of a message was pressed."""
    container: Json = {
        "type": "message",
        "message_ts": message.ts,
        "channel_id": channel.id,
        "is_ephemeral": False,
    }
    said = message.wire(with_metadata=False)
    if replies := channel.replies(message.ts):
        said |= {"thread_ts": message.ts, "reply_count": len(replies)}
        container["thread_ts"] = message.ts
    return {
        "type": "block_actions",
        **_whole(space, user),
        "container": container,
        "channel": {"id": channel.id, "name": channel.name},
        "message": said,
        "state": {"values": {}},
        "response_url": respond_at,
        "actions": [pressed],
    }


def pressable(message: Message, wanted: str, at: str) -> Json:
    """Find what a person presses by its words, or by the end of its action id.

    Raises:
        LookupError: the message shows nothing of the kind.
    """
    for block, element in _elements(message):
        shared = {"block_id": block["block_id"], "action_ts": at}
        named = str(element.get("action_id"))
        for option in element.get("options", []):
            if wanted in (option["text"]["text"], str(option["value"])):
                kind = {"action_id": named, "type": "overflow", "selected_option": option}
                return {**kind, **shared}
        if element["type"] == "button" and wanted in (
            element["text"]["text"],
            named.removeprefix("caveat."),
        ):
            kept = ("action_id", "text", "value", "style", "type", "url")
            return {**{key: element[key] for key in kept if key in element}, **shared}
    raise LookupError(f"nothing on the message says {wanted!r}")


def _elements(message: Message) -> Iterator[tuple[Json, Json]]:
    for block in message.blocks:
        if block["type"] == "actions":
            yield from ((block, element) for element in block["elements"])


def submission(space: Workspace, view: View, values: Json, user: str) -> Json:
    """A modal was sent."""
    return {
        "type": "view_submission",
        **_whole(space, user),
        "view": view.wire(values),
        "response_urls": [],
    }


def filled(view: View, said: dict[str, str]) -> Json:
    """The state of a form, given what a person wrote or chose by block id."""
    state: Json = {}
    for block in view.shown["blocks"]:
        if block["type"] != "input":
            continue
        element = block["element"]
        given = said.get(block["block_id"], element.get("initial_value"))
        state[block["block_id"]] = {element["action_id"]: _entered(element, given)}
    return state


def _entered(element: Json, given: str | None) -> Json:
    if element["type"] == "plain_text_input":
        return {"type": element["type"], "value": given or None}
    chosen = [o for o in element["options"] if given in (o["value"], o["text"]["text"])]
    if given is not None and not chosen:
        raise LookupError(f"the list does not offer {given!r}")
    return {"type": element["type"], "selected_option": chosen[0] if chosen else None}


def command(
    space: Workspace, channel_id: str, name: str, words: str, user: str, respond_at: str
) -> dict[str, str]:
    """A slash command, as the fields of its form; its text is escaped."""
    channel = space.channels.get(channel_id)
    return {
        "token": TOKEN,
        "team_id": TEAM,
        "team_domain": TEAM_DOMAIN,
        "channel_id": channel_id,
        "channel_name": channel.name if channel else "directmessage",
        "user_id": user,
        "user_name": space.people[user],
        "command": name,
        "text": escaped(space, words),
        "api_app_id": APP,
        "is_enterprise_install": "false",
        "response_url": respond_at,
        "trigger_id": space.modals.trigger(user, space.now()),
    }


def escaped(space: Workspace, words: str) -> str:
    """What a person typed, as an app receives it."""
    said = html.escape(words, quote=False)
    for user, name in space.people.items():
        said = said.replace(f"@{name}", f"<@{user}|{name}>")
    return said


def mention(space: Workspace, channel: Channel, message: Message) -> Json:
    """The bot was named in a message."""
    event: Json = {
        "type": "app_mention",
        "user": message.user,
        "text": message.text,
        "ts": message.ts,
        "channel": channel.id,
        "team": TEAM,
        "event_ts": message.ts,
    }
    if message.thread_ts:
        event["thread_ts"] = message.thread_ts
    seconds = int(space.now().timestamp())
    return {
        "token": TOKEN,
        "team_id": TEAM,
        "api_app_id": APP,
        "event": event,
        "type": "event_callback",
        "event_id": f"Ev{message.ts.replace('.', '')}",
        "event_time": seconds,
        "authorizations": [
            {"enterprise_id": None, "team_id": TEAM, "user_id": BOT_USER, "is_bot": True}
        ],
    }


def shortcut(
    space: Workspace, channel: Channel, message: Message, name: str, user: str, respond_at: str
) -> Json:
    """A message's own menu was used."""
    said: dict[str, Any] = message.wire(with_metadata=False)
    return {
        "type": "message_action",
        **_whole(space, user),
        "action_ts": space.stamp(),
        "callback_id": name,
        "channel": {"id": channel.id, "name": channel.name},
        "message_ts": message.ts,
        "message": said,
        "response_url": respond_at,
    }
