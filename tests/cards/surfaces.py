"""The four surfaces a card is drawn on, and what each of them refuses."""

import json
import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from html.parser import HTMLParser
from typing import Any

from slack_sdk.models.blocks import Block

from cards.card import Card
from cards.render import markdown, slack, telegram, terminal
from cards.render.limits import u16
from cards.render.links import listed
from tests.cards.cases import HOST

ALLOWED = listed(HOST)
SUFFIX: Mapping[str, str] = {
    "slack": "json",
    "telegram": "html",
    "terminal": "txt",
    "markdown": "md",
}


def _slack(card: Card) -> str:
    message = slack.render(card, ALLOWED, key="k1").model_dump(mode="json")
    return json.dumps(message, indent=1, ensure_ascii=False) + "\n"


def _telegram(card: Card) -> str:
    message = telegram.render(card, ALLOWED)
    rows = [" | ".join(f"{k.label}={k.data}" for k in row) for row in message.keyboard]
    return message.text + "\n<!-- " + " / ".join(rows) + " -->\n"


DRAW: Mapping[str, Callable[[Card], str]] = {
    "slack": _slack,
    "telegram": _telegram,
    "terminal": lambda card: terminal.text(card, ALLOWED),
    "markdown": lambda card: markdown.render(card, ALLOWED),
}

TEXT_LIMITS = {"header": 150, "section": 3000, "context": 3000}


def slack_faults(message: slack.SlackMessage) -> Iterator[str]:
    """What Slack, or our own budget, would refuse of a message."""
    if not message.text or u16(message.text) > 300:
        yield f"text of {u16(message.text)}"
    if len(message.blocks) > 12:
        yield f"{len(message.blocks)} blocks"
    if slack.size(message) > 3000:
        yield f"{slack.size(message)} characters"
    if len(json.dumps(message.metadata)) > 1000:
        yield "metadata"
    names = [block["block_id"] for block in message.blocks]
    if len(names) != len(set(names)):
        yield f"block ids {names}"
    for block in message.blocks:
        yield from _block_faults(dict(block))


def _block_faults(block: dict[str, Any]) -> Iterator[str]:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made = Block.parse(json.loads(json.dumps(block)))
    if made is None:
        yield f"unknown block {block['type']}"
        return
    made.to_dict()
    made.validate_json()
    for text in _texts(block):
        if not text.strip():
            yield f"empty text in {block['block_id']}"
        if u16(text) > TEXT_LIMITS.get(block["type"], 75):
            yield f"{u16(text)} in {block['block_id']}"
    ids = [
        element.get("action_id") for element in block.get("elements", ()) if "action_id" in element
    ]
    if len(ids) != len(set(ids)):
        yield f"action ids {ids}"


def _texts(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        if isinstance(node.get("text"), str):
            yield node["text"]
        for value in node.values():
            yield from _texts(value)
    elif isinstance(node, list | tuple):
        for value in node:
            yield from _texts(value)


def slack_texts(message: slack.SlackMessage) -> str:
    """Everything a reader sees."""
    return "\n".join([message.text, *_texts(list(message.blocks))])


TAGS = {"b", "i", "code", "a", "tg-time", "blockquote"}
LINKED = re.compile(
    r"https?://|(?<![\w])@\w{2,}|(?<![\w&])#\w*[^\W\d]\w*|(?<![\w/<>])/[A-Za-z0-9_]+"
    r"|\b[\w-]+\.(?:com|net|org|io|rs|py|dev|app|sh)\b"
    r"|\b\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}\b"
)
"""What Telegram links by itself outside code and links."""


class _Strict(HTMLParser):
    """Telegram's rules for a message: known tags, closed in order."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.faults: list[str] = []
        self.entities = 0
        self.bare: list[str] = []
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in TAGS:
            self.faults.append(f"tag {tag}")
        self.links += [value or "" for name, value in attrs if name == "href"]
        self.open.append(tag)
        self.entities += 1

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.faults.append(f"end of {tag}")

    def handle_data(self, data: str) -> None:
        if not {"code", "a", "tg-time"} & set(self.open):
            self.bare.append(data)


def telegram_faults(message: telegram.TelegramMessage) -> Iterator[str]:
    """What Telegram, or our own budget, would refuse of a message, and what it would link."""
    parser = _Strict()
    parser.feed(message.text)
    parser.close()
    yield from parser.faults
    if parser.open:
        yield f"not closed: {parser.open}"
    if parser.entities > 100:
        yield f"{parser.entities} entities"
    yield from (f"link to {link}" for link in parser.links if not ALLOWED(link))
    for bare in parser.bare:
        yield from (f"links by itself: {found[0]}" for found in LINKED.finditer(bare))
    yield from _telegram_sizes(message)


def _telegram_sizes(message: telegram.TelegramMessage) -> Iterator[str]:
    shown = u16(telegram.visible(message.text))
    without = re.sub(r"<blockquote expandable>.*?</blockquote>", "", message.text, flags=re.DOTALL)
    if (
        shown > 3500
        or u16(telegram.visible(without)) > 1800
        or not telegram.visible(message.text).strip()
    ):
        yield f"{shown} units"
    for row in message.keyboard:
        yield from (f"data {key.data}" for key in row if not 1 <= len(key.data.encode()) <= 64)
        yield from (f"label {key.label}" for key in row if not key.label.strip())


def faults(card: Card) -> list[str]:
    """Everything any surface would refuse."""
    found = [f"slack: {fault}" for fault in slack_faults(slack.render(card, ALLOWED))]
    found += [f"telegram: {fault}" for fault in telegram_faults(telegram.render(card, ALLOWED))]
    plain = telegram.plain(card)
    found += [f"plain: links {hit[0]}" for hit in LINKED.finditer(plain.text)]
    if u16(slack.plain(card).text) > 3000 or u16(plain.text) > 4096:
        found.append("plain: too long")
    drawn = terminal.text(card, ALLOWED)
    found += [f"terminal: {char!r}" for char in drawn if char < " " and char != "\n"]
    return found
