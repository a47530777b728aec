"""What the Slack double says to blocks."""

from typing import Any

import pytest

from bot.drill.doubles.slack_blocks import complaints


def section(text: str) -> dict[str, Any]:
    return {"type": "section", "text": {"type": "mrkdwn", "text": text}}


def button(**more: Any) -> dict[str, Any]:
    said = {"type": "plain_text", "text": "Approve"}
    return {"type": "button", "text": said, "action_id": "approve", **more}


def actions(*elements: dict[str, Any]) -> dict[str, Any]:
    return {"type": "actions", "elements": list(elements)}


def plain(text: str) -> dict[str, Any]:
    return {"type": "plain_text", "text": text}


def overflow(count: int) -> dict[str, Any]:
    options = [{"text": plain("o"), "value": str(n)} for n in range(count)]
    return {"type": "overflow", "action_id": "more", "options": options}


WRONG_BLOCKS = [
    ([section("x")] * 51, "no more than 50 items allowed [json-pointer:/blocks]"),
    ([section("x" * 3001)], "must be less than 3001 characters [json-pointer:/blocks/0/text/text]"),
    ([section("")], "must be more than 0 characters [json-pointer:/blocks/0/text/text]"),
    ([{"type": "section"}], "missing required field: text [json-pointer:/blocks/0]"),
    (
        [{"type": "section", "fields": [plain("x")] * 11}],
        "no more than 10 items allowed [json-pointer:/blocks/0/fields]",
    ),
    (
        [{"type": "section", "fields": [plain("x" * 2001)]}],
        "must be less than 2001 characters [json-pointer:/blocks/0/fields/0/text]",
    ),
    (
        [{"type": "header", "text": plain("x" * 151)}],
        "must be less than 151 characters [json-pointer:/blocks/0/text/text]",
    ),
    (
        [{"type": "header", "text": {"type": "mrkdwn", "text": "x"}}],
        "unsupported type: mrkdwn [json-pointer:/blocks/0/text/type]",
    ),
    (
        [{"type": "context", "elements": [plain("x")] * 11}],
        "no more than 10 items allowed [json-pointer:/blocks/0/elements]",
    ),
    (
        [actions(*[button(action_id=str(n)) for n in range(26)])],
        "no more than 25 items allowed [json-pointer:/blocks/0/elements]",
    ),
    (
        [actions(button(text=plain("x" * 76)))],
        "must be less than 76 characters [json-pointer:/blocks/0/elements/0/text/text]",
    ),
    (
        [actions(button(value="x" * 2001))],
        "must be less than 2001 characters [json-pointer:/blocks/0/elements/0/value]",
    ),
    (
        [actions(button(action_id="x" * 256))],
        "must be less than 256 characters [json-pointer:/blocks/0/elements/0/action_id]",
    ),
    (
        [actions(button(style="green"))],
        "must be a valid enum value [json-pointer:/blocks/0/elements/0/style]",
    ),
    (
        [actions(button(confirm={"title": plain("x" * 101), "text": plain("x"),
                                 "confirm": plain("y"), "deny": plain("n")}))],
        "must be less than 101 characters [json-pointer:/blocks/0/elements/0/confirm/title/text]",
    ),
    (
        [actions(button(confirm={"title": plain("x"), "text": plain("x" * 301),
                                 "confirm": plain("y"), "deny": plain("n")}))],
        "must be less than 301 characters [json-pointer:/blocks/0/elements/0/confirm/text/text]",
    ),
    (
        [actions(overflow(6))],
        "no more than 5 items allowed [json-pointer:/blocks/0/elements/0/options]",
    ),
    (
        [actions(overflow(0))],
        "no fewer than 1 items required [json-pointer:/blocks/0/elements/0/options]",
    ),
    (
        [actions(button(), button())],
        "`action_id` approve already exists [json-pointer:/blocks/0/elements]",
    ),
    (
        [section("a") | {"block_id": "b"}, section("c") | {"block_id": "b"}],
        "`block_id` b already exists [json-pointer:/blocks]",
    ),
    (
        [{"type": "alert", "text": plain("x"), "level": "warning"}],
        "unsupported type: alert [json-pointer:/blocks/0/type]",
    ),
    ([{"type": "chart"}], "unsupported type: chart [json-pointer:/blocks/0/type]"),
    (
        [section("x") | {"colour": "red"}],
        "invalid additional property: colour [json-pointer:/blocks/0]",
    ),
    (
        [{"type": "image", "image_url": "http://x.example/a.png"}],
        "missing required field: alt_text [json-pointer:/blocks/0]",
    ),
    (
        [{"type": "table", "rows": [[{"type": "raw_text", "text": "x"}]] * 101}],
        "no more than 100 items allowed [json-pointer:/blocks/0/rows]",
    ),
    (
        [{"type": "container", "title": plain("t"), "child_blocks": [section("x")],
          "is_collapsible": True, "has_header_divider": True}],
        "must not be used with is_collapsible [json-pointer:/blocks/0/has_header_divider]",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("blocks", "complaint"), WRONG_BLOCKS)
def test_a_fault_of_a_block_is_named_with_its_pointer(blocks: Any, complaint: str) -> None:
    assert complaint in complaints(blocks)


def test_every_kind_of_block_a_card_uses_is_accepted() -> None:
    rich = {"type": "rich_text_section", "elements": [{"type": "text", "text": "x"}]}
    confirm = {"title": plain("t"), "text": plain("x"), "confirm": plain("y"), "deny": plain("n")}
    blocks = [
        {"type": "header", "text": plain("x" * 150)},
        {"type": "context", "elements": [{"type": "mrkdwn", "text": "x"}]},
        section("x" * 3000),
        actions(button(style="primary", confirm=confirm), overflow(5)),
        {"type": "divider"},
        {"type": "rich_text", "elements": [rich]},
        {"type": "markdown", "text": "# x"},
        {"type": "container", "title": plain("t"), "child_blocks": [section("x")]},
    ]
    assert complaints(blocks) == []
