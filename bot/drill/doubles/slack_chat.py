"""The chat.* methods: posting, editing, whispering, deleting."""

import json
from dataclasses import replace
from typing import Any

from bot.drill.doubles.arguments import flag, nested
from bot.drill.doubles.slack_blocks import MAX_TEXT, complaints, text_length
from bot.drill.doubles.slack_names import BOT_USER, Json
from bot.drill.doubles.slack_room import Channel, Message, Workspace

MAX_POSTED, MAX_UPDATED = 40_000, 4_000
"""Characters of `text`: a post is cut there, an update is refused."""
MAX_METADATA_BYTES = 4_000


class RefusedError(Exception):
    """Slack says no: the error's name, and what it adds to the answer."""

    def __init__(self, error: str, **more: Any) -> None:
        super().__init__(error)
        self.error, self.more = error, more


def channel_of(space: Workspace, given: Json) -> Channel:
    """Find the channel a bot may write to, or refuse as Slack does."""
    channel = space.find(str(given.get("channel", "")))
    if channel is None or (channel.is_private and BOT_USER not in channel.members):
        raise RefusedError("channel_not_found")
    if channel.is_archived:
        raise RefusedError("is_archived")
    if BOT_USER not in channel.members:
        raise RefusedError("not_in_channel")
    return channel


def blocks_of(given: Json) -> list[Json]:
    """Read the blocks and refuse what Slack refuses."""
    try:
        blocks = nested(given.get("blocks") or [])
    except json.JSONDecodeError:
        raise RefusedError("invalid_blocks_format") from None
    if found := complaints(blocks):
        messages = [f"[ERROR] {each}" for each in found]
        raise RefusedError("invalid_blocks", errors=found, response_metadata={"messages": messages})
    if text_length(blocks) > MAX_TEXT:
        raise RefusedError("msg_blocks_too_long")
    return list(blocks)


def metadata_of(given: Json, warnings: list[str]) -> Json | None:
    """Read the metadata; too much of it is dropped with a warning, not refused."""
    metadata = nested(given.get("metadata") or "null")
    if metadata is None:
        return None
    if not {"event_type", "event_payload"} <= metadata.keys():
        raise RefusedError("invalid_metadata_format")
    if len(json.dumps(metadata["event_payload"]).encode()) > MAX_METADATA_BYTES:
        warnings.append("metadata_too_large")
        return None
    return dict(metadata)


def post(space: Workspace, given: Json) -> Json:
    """chat.postMessage."""
    channel, warnings = channel_of(space, given), list[str]()
    text, blocks = str(given.get("text") or ""), blocks_of(given)
    if not text and not blocks:
        raise RefusedError("no_text")
    if len(text) > MAX_POSTED:
        warnings.append("message_truncated")
    message = Message(
        ts=space.stamp(),
        text=text[:MAX_POSTED],
        blocks=blocks,
        thread_ts=given.get("thread_ts"),
        broadcast=flag(given.get("reply_broadcast")),
        metadata=metadata_of(given, warnings),
    )
    channel.messages[message.ts] = message
    return answered(channel, message, warnings)


def update(space: Workspace, given: Json) -> Json:
    """chat.update: text without blocks removes the blocks."""
    channel, warnings = channel_of(space, given), list[str]()
    message = own_message(channel, str(given.get("ts")), "cant_update_message")
    text, blocks = str(given.get("text") or ""), blocks_of(given)
    if not text and not blocks:
        raise RefusedError("no_text")
    if len(text) > MAX_UPDATED:
        raise RefusedError("msg_too_long")
    message.earlier.append(replace(message, earlier=[], reactions=[*message.reactions]))
    message.text, message.blocks = text, blocks
    message.metadata = metadata_of(given, warnings) or message.metadata
    return answered(channel, message, warnings) | {"text": text}


def whisper(space: Workspace, given: Json) -> Json:
    """chat.postEphemeral: seen by one person, kept by nobody."""
    channel, blocks = channel_of(space, given), blocks_of(given)
    if not given.get("text") and not blocks:
        raise RefusedError("no_text")
    if given.get("user") not in channel.members:
        raise RefusedError("user_not_in_channel")
    root = given.get("thread_ts")
    # Slack takes it and shows it to nobody when the thread has no reply yet.
    seen = not root or bool(channel.replies(str(root)))
    space.ephemeral.append({**given, "channel": channel.id, "blocks": blocks, "seen": seen})
    return {"message_ts": space.stamp()}


def delete(space: Workspace, given: Json) -> Json:
    """chat.delete."""
    channel = channel_of(space, given)
    message = own_message(channel, str(given.get("ts")), "cant_delete_message")
    del channel.messages[message.ts]
    return {"channel": channel.id, "ts": message.ts}


def permalink(space: Workspace, given: Json) -> Json:
    """chat.getPermalink."""
    channel, ts = channel_of(space, given), str(given.get("message_ts"))
    if ts not in channel.messages:
        raise RefusedError("message_not_found")
    link = f"https://rehearsal.slack.example/archives/{channel.id}/p{ts.replace('.', '')}"
    return {"channel": channel.id, "permalink": link}


def own_message(channel: Channel, ts: str, foreign: str) -> Message:
    """Find a message the bot wrote; somebody else's is refused as `foreign`."""
    message = channel.messages.get(ts)
    if message is None:
        raise RefusedError("message_not_found")
    if message.user != BOT_USER:
        raise RefusedError(foreign)
    return message


def answered(channel: Channel, message: Message, warnings: list[str]) -> Json:
    """Say where the message is, and what was not kept of it."""
    said: Json = {"channel": channel.id, "ts": message.ts, "message": message.wire()}
    if warnings:
        said |= {"warning": ",".join(warnings), "response_metadata": {"warnings": warnings}}
    return said
