"""The views.* methods: modals open by trigger ids, and change by their hashes.

Source: docs.slack.dev, views.open and views.update.
"""

import json
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from bot.drill.doubles.arguments import nested
from bot.drill.doubles.slack_chat import RefusedError
from bot.drill.doubles.slack_limits import IN_MESSAGES, plain
from bot.drill.doubles.slack_names import Json
from bot.drill.doubles.slack_room import Workspace
from bot.drill.doubles.slack_schema import array, boolean, by_type, complain, shape, string

TRIGGER_LIVES = timedelta(seconds=3)
MOST_BYTES = 250_000
_MODAL = by_type(
    {
        "modal": shape(
            {"title": plain(24), "blocks": array(by_type(IN_MESSAGES), 100, 0)},
            {
                "submit": plain(24),
                "close": plain(24),
                "private_metadata": string(3000, 0),
                "callback_id": string(255),
                "clear_on_close": boolean,
                "notify_on_close": boolean,
                "external_id": string(255),
            },
        )
    }
)


def open_(space: Workspace, given: Json) -> Json:
    """views.open: a trigger id opens one modal, within three seconds."""
    trigger = space.modals.triggers.get(str(given.get("trigger_id")))
    if trigger is None:
        raise RefusedError("invalid_trigger_id")
    if trigger.used:
        raise RefusedError("exchanged_trigger_id")
    if space.now() - trigger.made_at > TRIGGER_LIVES:
        raise RefusedError("expired_trigger_id")
    shown = _view_of(given)
    trigger.used = True
    return {"view": space.modals.show(trigger.user, shown).wire()}


def update(space: Workspace, given: Json) -> Json:
    """views.update: as long as it is open, and the hash is the newest where one is given."""
    view = space.modals.open.get(str(given.get("view_id")))
    if view is None:
        raise RefusedError("not_found")
    if given.get("hash") and given["hash"] != view.hash:
        raise RefusedError("hash_conflict")
    space.modals.change(view, _view_of(given))
    return {"view": view.wire()}


def _view_of(given: Json) -> Json:
    """Read a view and refuse what Slack refuses."""
    try:
        shown = nested(given.get("view") or "null")
    except json.JSONDecodeError:
        shown = None
    found = [*_MODAL(shown, "/view"), *_unfit(shown)]
    if found:
        messages = [f"[ERROR] {each}" for each in found]
        raise RefusedError("invalid_arguments", response_metadata={"messages": messages})
    if len(json.dumps(shown)) > MOST_BYTES:
        raise RefusedError("view_too_large")
    return dict(shown)


def _unfit(shown: Any) -> Iterator[str]:
    """What is asked for can be sent, and every block has its own name."""
    blocks = shown.get("blocks") if isinstance(shown, dict) else None
    if not isinstance(blocks, list):
        return
    asks = any(isinstance(each, dict) and each.get("type") == "input" for each in blocks)
    if asks and not shown.get("submit"):
        yield complain("`submit` is required when an input block is within blocks", "/view/submit")
    names = [each.get("block_id") for each in blocks if isinstance(each, dict)]
    for name in {name for name in names if name and names.count(name) > 1}:
        yield complain(f"`block_id` {name} already exists", "/view/blocks")
