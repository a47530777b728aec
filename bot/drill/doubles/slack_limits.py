"""The blocks a Slack message may hold, and how long each part of them may be.

Source: docs.slack.dev, Block Kit reference. `alert` is missing on purpose: it lives in modals only.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from bot.drill.doubles.slack_schema import (
    Check,
    anything,
    array,
    boolean,
    by_type,
    complain,
    every,
    number,
    one_of,
    shape,
    string,
)


def plain(longest: int) -> Check:
    """Accept a plain_text object."""
    return by_type({"plain_text": shape({"text": string(longest)}, {"emoji": boolean})})


def text(longest: int) -> Check:
    """Accept a plain_text or mrkdwn object."""
    mrkdwn = shape({"text": string(longest)}, {"verbatim": boolean})
    return by_type(
        {"plain_text": shape({"text": string(longest)}, {"emoji": boolean}), "mrkdwn": mrkdwn}
    )


STYLE = one_of("primary", "danger")
ACTION = string(255)
CONFIRM = shape(
    {"title": plain(100), "text": text(300), "confirm": plain(30), "deny": plain(30)},
    {"style": STYLE},
)
OPTION = shape(
    {"text": text(75), "value": string(150)}, {"description": text(75), "url": string(3000)}
)
BUTTON = shape(
    {"text": plain(75)},
    {
        "action_id": ACTION,
        "value": string(2000),
        "url": string(3000),
        "style": STYLE,
        "confirm": CONFIRM,
        "accessibility_label": string(75),
        "agent_prompt": string(4000),
        "agent_prompt_display": anything,
        "visible_to_user_ids": array(string(255), 100),
    },
)
OVERFLOW = shape({"options": array(OPTION, 5)}, {"action_id": ACTION, "confirm": CONFIRM})
_CHOICE = {"action_id": ACTION, "confirm": CONFIRM, "focus_on_load": boolean}
_STATIC = {
    **_CHOICE,
    "placeholder": plain(150),
    "options": array(OPTION, 100),
    "option_groups": array(shape({"label": plain(75), "options": array(OPTION, 100)}), 100),
    "initial_option": OPTION,
}
_PICKED = shape({}, {**_CHOICE, "placeholder": plain(150), "initial_user": string(255)})
_BOXES = shape({"options": array(OPTION, 10)}, {**_CHOICE, "initial_options": array(OPTION, 10)})
_RADIO = shape({"options": array(OPTION, 10)}, {**_CHOICE, "initial_option": OPTION})
_TYPED = {
    **_CHOICE,
    "placeholder": plain(150),
    "multiline": boolean,
    "initial_value": string(3000, 0),
    "min_length": number,
    "max_length": number,
}
_PICTURE = {"alt_text": string(2000)}
_SOURCE: Mapping[str, Check] = {"image_url": string(3000), "slack_file": anything}
PICTURE = shape(_PICTURE, _SOURCE)
INTERACTIVE = {
    "button": BUTTON,
    "overflow": OVERFLOW,
    "static_select": shape({}, _STATIC),
    "users_select": _PICKED,
    "datepicker": shape({}, {**_CHOICE, "initial_date": string(10)}),
    "checkboxes": _BOXES,
    "radio_buttons": _RADIO,
    "workflow_button": anything,
}
_FEEDBACK_BUTTON = shape(
    {"text": plain(75), "value": string(2000)}, {"accessibility_label": string(75)}
)
FEEDBACK = {
    "feedback_buttons": shape(
        {"positive_button": _FEEDBACK_BUTTON, "negative_button": _FEEDBACK_BUTTON},
        {"action_id": ACTION},
    ),
    "icon_button": shape({"icon": string(255), "text": plain(75)}, {**_CHOICE, "value": ACTION}),
}
RICH = {
    f"rich_text_{kind}": shape(
        {"elements": array(anything, 3000, 0)},
        {"style": anything, "indent": number, "offset": number, "border": number},
    )
    for kind in ("section", "list", "preformatted", "quote")
}
CELL = by_type(
    {
        "raw_text": shape({"text": string(3000, 0)}),
        "raw_number": shape({"value": number}, {"text": string(3000, 0)}),
        "rich_text": shape({"elements": array(by_type(RICH), 3000)}),
    }
)
_ID: Mapping[str, Check] = {"block_id": string(255)}


def block(required: Mapping[str, Check], optional: Mapping[str, Check] | None = None) -> Check:
    """Accept a block: a shape that may have an id."""
    return shape(required, {**_ID, **(optional or {})})


def _section(value: Any, pointer: str) -> Iterator[str]:
    """A section says something: in its text or in its fields."""
    if not {"text", "fields"} & value.keys():
        yield complain("missing required field: text", pointer)


CARD: Mapping[str, Check] = {
    "title": text(150),
    "subtitle": text(150),
    "body": text(200),
    "hero_image": PICTURE,
    "icon": PICTURE,
    "actions": array(by_type(INTERACTIVE), 5),
}
CONTEXT = {"mrkdwn": text(3000), "plain_text": text(3000), "image": PICTURE}
SIMPLE: dict[str, Check] = {
    "section": every(
        block(
            {},
            {
                "text": text(3000),
                "fields": array(text(2000), 10),
                "accessory": by_type({**INTERACTIVE, "image": PICTURE}),
                "expand": boolean,
            },
        ),
        _section,
    ),
    "header": block({"text": plain(150)}),
    "divider": block({}),
    "context": block({"elements": array(by_type(CONTEXT), 10)}),
    "actions": block({"elements": array(by_type(INTERACTIVE), 25)}),
    "image": block(_PICTURE, {**_SOURCE, "title": plain(2000)}),
    "markdown": block({"text": string(12_000)}),
    "rich_text": block({"elements": array(by_type(RICH), 3000)}),
    "table": block({"rows": array(array(CELL, 20), 100)}, {"column_settings": array(anything, 20)}),
    "context_actions": block({"elements": array(by_type(FEEDBACK), 5)}),
    "card": block({}, CARD),
    "carousel": block({"elements": array(by_type({"card": block({}, CARD)}), 10)}),
    "input": block(
        {
            "label": plain(2000),
            "element": by_type({**INTERACTIVE, "plain_text_input": shape({}, _TYPED)}),
        },
        {"hint": plain(2000), "optional": boolean, "dispatch_action": boolean},
    ),
    "task_card": block(
        {"task_id": string(255), "title": string(255)},
        {
            "details": anything,
            "output": anything,
            "sources": array(anything, 100, 0),
            "status": one_of("pending", "in_progress", "complete", "error"),
        },
    ),
    "plan": block({"title": string(255)}, {"tasks": array(anything, 50, 0)}),
    "video": block(
        {
            "title": plain(200),
            "video_url": string(3000),
            "thumbnail_url": string(3000),
            "alt_text": string(2000),
        },
        {
            "author_name": string(50),
            "description": plain(200),
            "title_url": string(3000),
            "provider_name": string(255),
            "provider_icon_url": string(3000),
        },
    ),
}


def _container(value: Any, pointer: str) -> Iterator[str]:
    """A divider under the title and collapsing exclude each other."""
    if value.get("is_collapsible") and value.get("has_header_divider"):
        yield complain("must not be used with is_collapsible", f"{pointer}/has_header_divider")


CONTAINER = every(
    block(
        {"title": text(150), "child_blocks": array(by_type(SIMPLE), 10)},
        {
            "subtitle": text(150),
            "width": one_of("narrow", "standard", "wide", "full"),
            "is_collapsible": boolean,
            "default_collapsed": boolean,
            "has_header_divider": boolean,
        },
    ),
    _container,
)
IN_MESSAGES = {**SIMPLE, "container": CONTAINER}
