"""What Slack delivers, read: who did what, where, and where an answer can be seen."""

import json
import re
from collections.abc import Mapping
from typing import Any

from engine.model.base import Frozen

Json = Mapping[str, Any]

_LINKED = re.compile(r"<([@#!]?)([^>|]*)(?:\|([^>]*))?>")
_KNOWN = frozenset({"help", "link", "bind", "settings", "status"})
MOST_WORDS = 2
"""A mention of that many words may be a command; a longer one is a question."""


class Delivery(Frozen):
    """Something one account did."""

    key: str
    """Slack's own name of it; a repeat has the same."""
    account: str
    name: str = ""
    channel: str = ""
    thread: str | None = None
    """The thread it was done in, where one is active: elsewhere a whisper below is not seen."""
    about: str | None = None
    """The message it was done to, or said in."""
    trigger_id: str | None = None
    response_url: str | None = None


class Pressed(Delivery):
    """A button, or an entry of a menu."""

    action_id: str
    token: str
    label: str
    opens_link: bool = False


class Sent(Delivery):
    """A form."""

    prompt_id: str
    values: Mapping[str, str]
    """What was written by field; of a choice its place in the list."""
    choices: frozenset[str]
    """Fields that were a choice."""
    needed: frozenset[str]
    """Fields that may not be empty."""


class Spoken(Delivery):
    """A command, a mention, or a message somebody wants looked into."""

    verb: str
    rest: str


def press(body: Json) -> Pressed:
    """Read `block_actions`: one press at a time, as Slack sends it."""
    done, message = body["actions"][0], body.get("message") or {}
    option = done.get("selected_option") or {}
    words = (option or done).get("text") or {}
    return Pressed(
        **_whole(body),
        about=message.get("ts"),
        thread=message.get("thread_ts"),
        action_id=str(done.get("action_id") or ""),
        token=str((option or done).get("value") or ""),
        label=unescaped(str(words.get("text") or "")),
        opens_link=bool(done.get("url")),
    )


def form(body: Json) -> Sent:
    """Read `view_submission`; what was left empty is empty text."""
    view = body["view"]
    carried = json.loads(view.get("private_metadata") or "{}")
    asked = [block for block in view["blocks"] if block["type"] == "input"]
    entered: Mapping[str, Json] = {
        block: next(iter(fields.values()), {}) for block, fields in view["state"]["values"].items()
    }
    return Sent(
        **{**_whole(body), "channel": str(carried.get("channel") or "")},
        thread=carried.get("thread"),
        about=carried.get("about"),
        prompt_id=str(carried.get("prompt") or ""),
        values={name: _entered(one) for name, one in entered.items()},
        choices=frozenset(n for n, one in entered.items() if one.get("type") == "static_select"),
        needed=frozenset(block["block_id"] for block in asked if not block.get("optional")),
    )


def kept(delivery: Delivery, prompt_id: str) -> str:
    """What a form carries with it: its prompt, and where its answer can be seen."""
    told = {"channel": delivery.channel, "thread": delivery.thread, "about": delivery.about}
    return json.dumps({"prompt": prompt_id, **{k: v for k, v in told.items() if v}})


def command(body: Json) -> Spoken:
    """Read a slash command: `/engage` is its own verb, `/caveat` is followed by one."""
    said = unescaped(str(body.get("text") or "")).strip()
    verb, _, rest = said.partition(" ")
    if str(body["command"]).lstrip("/") == "engage":
        verb, rest = "engage", said
    return Spoken(
        key=f"trigger:{body['trigger_id']}",
        account=str(body["user_id"]),
        name=str(body.get("user_name") or ""),
        channel=str(body["channel_id"]),
        trigger_id=str(body["trigger_id"]),
        response_url=body.get("response_url"),
        verb=verb.lower() or "help",
        rest=rest.strip(),
    )


def mention(body: Json) -> Spoken | None:
    """Read `app_mention`; None for what an app wrote, and for an edit of what was answered."""
    event = body["event"]
    if event.get("bot_id") or event.get("edited") or not event.get("user"):
        return None
    own = [str(one.get("user_id")) for one in body.get("authorizations") or []]
    said = str(event.get("text") or "")
    for account in own:
        said = re.sub(rf"<@{re.escape(account)}(\|[^>]*)?>", " ", said)
    said = unescaped(" ".join(said.split()))
    first, _, rest = said.partition(" ")
    is_command = first.lower() in _KNOWN and len(said.split()) <= MOST_WORDS
    return Spoken(
        key=f"event:{body['event_id']}",
        account=str(event["user"]),
        channel=str(event["channel"]),
        thread=event.get("thread_ts"),
        about=str(event.get("thread_ts") or event["ts"]),
        verb=(first.lower() if is_command else "engage") if said else "help",
        rest=rest if is_command else said,
    )


def shortcut(body: Json) -> Spoken:
    """Read `message_action`: the message is what is asked about."""
    message = body["message"]
    return Spoken(
        **_whole(body),
        thread=message.get("thread_ts"),
        about=str(message.get("thread_ts") or body["message_ts"]),
        verb="engage",
        rest=unescaped(" ".join(str(message.get("text") or "").split())),
    )


def unescaped(said: str) -> str:
    """What a person typed, from what Slack made of it."""
    plain = _LINKED.sub(_linked, said)
    return plain.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def _linked(found: re.Match[str]) -> str:
    """Names in the place of ids, addresses in the place of links."""
    mark, target, name = found[1], found[2], found[3]
    if mark == "!":
        return f"@{(name or target).lstrip('@')}"
    return f"{mark}{name or target}" if mark else target


def _entered(one: Json) -> str:
    chosen = one.get("selected_option") or {}
    return str(one.get("value") or chosen.get("value") or "").strip()


def _whole(body: Json) -> dict[str, Any]:
    """What every interaction says alike."""
    user, view = body["user"], body.get("view") or {}
    key = body.get("trigger_id") or f"{view.get('id')}:{view.get('hash')}"
    return {
        "key": f"trigger:{key}",
        "account": str(user["id"]),
        "name": str(user.get("name") or user.get("username") or ""),
        "channel": str((body.get("channel") or {}).get("id") or ""),
        "trigger_id": body.get("trigger_id"),
        "response_url": body.get("response_url"),
    }
