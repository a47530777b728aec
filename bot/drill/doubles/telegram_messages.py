"""The methods that send, edit and delete messages."""

import math
from datetime import timedelta
from typing import Literal

from bot.drill.doubles.arguments import Upload, flag, nested
from bot.drill.doubles.telegram_html import Formatted, parse
from bot.drill.doubles.telegram_keyboard import markup_of
from bot.drill.doubles.telegram_room import BOT, Chat, Message, Space
from bot.drill.doubles.telegram_words import (
    Json,
    RefusedError,
    bad_request,
    too_many_requests,
    units,
)

MAX_TEXT, MAX_CAPTION = 4096, 1024
MAX_PHOTO_BYTES, MAX_FILE_BYTES = 10_000_000, 50_000_000
PICTURES = (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff")
GROUP_WRITES, GROUP_WINDOW = 20, timedelta(minutes=1)
"""A group takes so many writes in so long; edits count."""
DELETABLE_FOR = timedelta(hours=48)
UNCHANGED = (
    "message is not modified: specified new message content and reply markup"
    " are exactly the same as a current content and reply markup of the message"
)


def body_of(given: Json, name: str) -> Formatted:
    """Read text in its parse mode, trimmed as Telegram trims it."""
    source, mode = str(given.get(name) or ""), str(given.get("parse_mode") or "")
    if mode not in {"", "HTML"}:
        raise bad_request("unsupported parse_mode")
    body = parse(source) if mode else Formatted(source)
    return body if body.text.strip() else Formatted("")


def text_of(given: Json) -> Formatted:
    """Read the text of a message and refuse what Telegram refuses."""
    body = body_of(given, "text")
    if not body.text:
        raise bad_request("message text is empty")
    if units(body.text) > MAX_TEXT:
        raise bad_request("message is too long")
    return body


def caption_of(given: Json) -> Formatted:
    """Read a caption; it may be empty."""
    body = body_of(given, "caption")
    if units(body.text) > MAX_CAPTION:
        raise bad_request("message caption is too long")
    return body


def take_turn(space: Space, chat: Chat, *, strict: bool) -> None:
    """Count a write, and refuse the one a group has no room for."""
    now = space.now()
    while chat.busy and chat.busy[0] <= now - GROUP_WINDOW:
        chat.busy.popleft()
    if strict and chat.kind != "private" and len(chat.busy) >= GROUP_WRITES:
        wait = chat.busy[0] + GROUP_WINDOW - now
        raise too_many_requests(math.ceil(wait.total_seconds()))
    chat.busy.append(now)


def send(
    space: Space,
    given: Json,
    body: Formatted,
    attachment: Literal["photo", "document"] | None = None,
    file: bytes = b"",
) -> Message:
    """Put a message into its chat."""
    chat = space.find(given.get("chat_id"))
    if chat.standing == "restricted":
        raise bad_request("not enough rights to send text messages to the chat")
    message = Message(
        id=next(space.next_id),
        chat_id=chat.id,
        sender=BOT,
        body=body,
        sent_at=space.now(),
        markup=markup_of(given),
        thread_id=_thread(chat, given),
        reply_to=_replied(chat, given),
        silent=flag(given.get("disable_notification")),
        attachment=attachment,
        file=file,
    )
    chat.messages[message.id] = message
    return message


def send_text(space: Space, given: Json, _files: dict[str, Upload]) -> Json:
    """The method sendMessage."""
    space.find(given.get("chat_id"))
    return space.wire(send(space, given, text_of(given)))


def send_photo(space: Space, given: Json, files: dict[str, Upload]) -> Json:
    """The method sendPhoto."""
    content = _attached(given, files, "photo", MAX_PHOTO_BYTES)
    caption = caption_of(given)
    _be_picture(content)
    return space.wire(send(space, given, caption, "photo", content))


def edit_media(space: Space, given: Json, files: dict[str, Upload]) -> Json:
    """The method editMessageMedia: another photo with its own caption; the keyboard goes."""
    message, media = _editable(space, given), nested(given.get("media") or "{}")
    if message.attachment is None:
        raise bad_request("message can't be edited")
    content = _attached({"photo": media.get("media")}, files, "photo", MAX_PHOTO_BYTES)
    body, markup = caption_of(media), markup_of(given)
    _be_picture(content)
    if (message.body, message.markup, message.file) == (body, markup, content):
        raise bad_request(UNCHANGED)
    message.body, message.markup, message.file = body, markup, content
    message.edits += 1
    return space.wire(message)


def _be_picture(content: bytes) -> None:
    if not content.startswith(PICTURES):
        raise bad_request("IMAGE_PROCESS_FAILED")


def send_document(space: Space, given: Json, files: dict[str, Upload]) -> Json:
    """The method sendDocument."""
    content = _attached(given, files, "document", MAX_FILE_BYTES)
    return space.wire(send(space, given, caption_of(given), "document", content))


def edit_text(space: Space, given: Json, _files: dict[str, Upload]) -> Json:
    """The method editMessageText: a keyboard that is not given again is removed."""
    message = _editable(space, given)
    body, markup = text_of(given), markup_of(given)
    if message.attachment:
        raise bad_request("there is no text in the message to edit")
    if (message.body, message.markup) == (body, markup):
        raise bad_request(UNCHANGED)
    message.body, message.markup, message.edits = body, markup, message.edits + 1
    return space.wire(message)


def edit_markup(space: Space, given: Json, _files: dict[str, Upload]) -> Json:
    """The method editMessageReplyMarkup."""
    message, markup = _editable(space, given), markup_of(given)
    if message.markup == markup:
        raise bad_request(UNCHANGED)
    message.markup, message.edits = markup, message.edits + 1
    return space.wire(message)


def delete(space: Space, given: Json, _files: dict[str, Upload]) -> bool:
    """The method deleteMessage."""
    chat = space.find(given.get("chat_id"))
    message = chat.messages.get(int(given.get("message_id") or 0))
    if message is None:
        raise bad_request("message to delete not found")
    foreign = message.sender is not BOT and chat.standing != "administrator"
    if foreign or space.now() - message.sent_at > DELETABLE_FOR:
        raise bad_request("message can't be deleted")
    del chat.messages[message.id]
    return True


def _editable(space: Space, given: Json) -> Message:
    chat = space.find(given.get("chat_id"))
    message = chat.messages.get(int(given.get("message_id") or 0))
    if message is None:
        raise bad_request("message to edit not found")
    if message.sender is not BOT:
        raise bad_request("message can't be edited")
    return message


def _thread(chat: Chat, given: Json) -> int | None:
    if not given.get("message_thread_id"):
        return None
    thread = int(given["message_thread_id"])
    if thread not in chat.topics:
        raise bad_request("message thread not found")
    if not chat.topics[thread]:
        raise bad_request("TOPIC_CLOSED")
    return thread


def _replied(chat: Chat, given: Json) -> int | None:
    wanted = nested(given.get("reply_parameters") or "null") or {}
    if not wanted.get("message_id"):
        return None
    target = int(wanted["message_id"])
    if target in chat.messages:
        return target
    if flag(wanted.get("allow_sending_without_reply")):
        return None
    raise bad_request("message to be replied not found")


def _attached(given: Json, files: dict[str, Upload], name: str, max_bytes: int) -> bytes:
    """Find the file: in the body under its own name, or under the name `attach://` gives."""
    named = str(given.get(name) or "").removeprefix("attach://")
    upload = files.get(name) or files.get(named)
    if upload is None:
        raise bad_request(f"there is no {name} in the request")
    if len(upload.content) > max_bytes:
        raise RefusedError(413, "Request Entity Too Large")
    return upload.content
