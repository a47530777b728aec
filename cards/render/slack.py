"""A card as Block Kit: at most twelve blocks and three thousand characters, whatever came in."""

import re
from typing import Any

from cards.card import (
    Block,
    Button,
    Card,
    Caveats,
    Code,
    Line,
    Link,
    Mention,
    Moment,
    Quote,
    Section,
    Span,
    Word,
)
from cards.render import plain as unmarked
from cards.render.limits import cut, fit, u16, without_links
from cards.render.links import Allowed, nowhere
from engine.model.base import Frozen

MOST_BLOCKS = 12
MOST_CHARACTERS = 3000
MOST_TEXT = 300
MOST_HEADER = 150
MOST_SECTION = 2900
MOST_OPTIONS = 5
MOST_BUTTON = 30

_USER = re.compile(r"[UW][A-Z0-9]{2,20}")
_EMOJI = re.compile(r":(?=[a-z0-9_+'-]+:)", re.IGNORECASE)
_MARK = re.compile(r"[*~]|(?<![^\W_])_|_(?![^\W_])")
GRAVE = "\u02cb"
"""Stands for a backtick, which Slack cannot escape."""
BREAK = "\u200b"
"""Stands between a mark of the chat's own and its word."""

Json = dict[str, Any]


class SlackMessage(Frozen):
    """Arguments of a post or an update."""

    text: str
    """What a lock screen, a screen reader and search get."""
    blocks: tuple[Json, ...]
    metadata: Json


def escape(text: str) -> str:
    """The three characters Slack reads as markup."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def escaped_size(text: str) -> int:
    """How long a text is once it is escaped."""
    return u16(escape(text))


def render(card: Card, allowed: Allowed = nowhere, *, key: str = "") -> SlackMessage:
    """Draw any card within every limit; `key` finds the message again after a lost reply."""
    return _message(
        fit(without_links(card, allowed), lambda tried: _fits(_message(tried, allowed, key))),
        allowed,
        key,
    )


def sentence(line: Line, allowed: Allowed = nowhere) -> str:
    """One line of its own as Slack's markup, with nothing live in it but what is ours."""
    return _line(line, allowed)


def plain(card: Card, *, key: str = "") -> SlackMessage:
    """The card without blocks: still tells the incident when Slack refused them."""
    text = cut(unmarked.text(card), MOST_CHARACTERS, lambda t: u16(_word(t)))
    return SlackMessage(text=_word(text), blocks=(), metadata=_metadata(card, key))


def _metadata(card: Card, key: str) -> Json:
    return {"event_type": "caveat_card", "event_payload": {**card.facts, "key": key}}


def _message(card: Card, allowed: Allowed, key: str) -> SlackMessage:
    blocks = [_header(card)] if card.heading else []
    blocks += _sections(card, allowed)
    footer = _line(card.footer, allowed)
    if footer.strip():
        _add(blocks, _context("footer", footer))
    if card.buttons:
        blocks.append(_actions(card))
    state = card.facts.get("state", "card")
    marked = tuple({**block, "block_id": f"{block['block_id']}:{state}"[:255]} for block in blocks)
    return SlackMessage(text=_text(card), blocks=marked, metadata=_metadata(card, key))


def _text(card: Card) -> str:
    said = f"{card.lock_screen} — {card.heading}" if card.heading else card.lock_screen
    return _word(cut(said, MOST_TEXT, lambda t: u16(_word(t))))


def _header(card: Card) -> Json:
    title = cut(unmarked.headed(card), MOST_HEADER, escaped_size)
    return {
        "type": "header",
        "block_id": "heading",
        "text": {"type": "plain_text", "text": escape(title), "emoji": False},
    }


def _sections(card: Card, allowed: Allowed) -> list[Json]:
    blocks: list[Json] = []
    for section in card.sections:
        said = "\n".join(_rows(section, allowed))
        if said.strip():
            made = _context if section.muted else _section
            _add(blocks, made(section.name, said))
    return blocks


def _add(blocks: list[Json], block: Json) -> None:
    """Append a block; small print under small print shares one."""
    last = blocks[-1] if blocks else None
    if last and last["type"] == block["type"] == "context":
        last["elements"][0]["text"] += "\n" + block["elements"][0]["text"]
    else:
        blocks.append(block)


def _rows(section: Section, allowed: Allowed) -> list[str]:
    title = [_line(section.title, allowed)] if section.title else []
    return [*title, *(row for block in section.blocks for row in _block(block, allowed))]


def _block(block: Block, allowed: Allowed) -> list[str]:
    """Folded evidence stands in the thread, not on the card."""
    if isinstance(block, Quote):
        return []
    sign = "⚠ " if isinstance(block, Caveats) else ""
    return [sign + _line(line, allowed) for line in block.lines]


def _line(line: Line, allowed: Allowed) -> str:
    """A line; one that starts like a block quote gets something before its mark."""
    said = "".join(_span(span, allowed) for span in line)
    return BREAK + said if said.lstrip().startswith("&gt;") else said


def _span(span: Span, allowed: Allowed) -> str:
    match span:
        case Word(text=text, bold=bold):
            return _bold(text) if bold else _word(text)
        case Code(text=text):
            return f"`{escape(text.replace('`', GRAVE))}`" if text else ""
        case Moment(at=at, date=date):
            form = "{date_short_pretty} {time}" if date else "{time}"
            return f"<!date^{int(at.timestamp())}^{form}|{unmarked.clock(at, date=date)}>"
        case Link(label=label, url=url):
            return _link(label, url, allowed)
        case Mention(account=account, name=name):
            return f"<@{account}>" if _USER.fullmatch(account) else _word(name)


def _link(label: str, url: str, allowed: Allowed) -> str:
    if allowed(url):
        return f"<{escape(url)}|{_word(label)}>"
    shown = cut(unmarked.line((Word(text=url),)), 200)
    return f"{_word(label)} `{escape(shown.replace('`', GRAVE))}`"


def _bold(text: str) -> str:
    """Marks must hug their words; the spaces around go outside."""
    core = text.strip()
    if not core:
        return text
    start = text[: len(text) - len(text.lstrip())]
    end = text[len(text.rstrip()) :]
    return f"{start}*{_word(core)}*{end}"


def _word(text: str) -> str:
    """Words with every mark of the chat's own taken apart from its word."""
    text = _MARK.sub(lambda mark: f"{BREAK}{mark[0]}{BREAK}", text.replace("`", GRAVE))
    return escape(_EMOJI.sub(f":{BREAK}", text))


def _section(name: str, said: str) -> Json:
    return {"type": "section", "block_id": name, "text": mrkdwn(said)}


def _context(name: str, said: str) -> Json:
    return {"type": "context", "block_id": name, "elements": [mrkdwn(said)]}


def mrkdwn(said: str) -> Json:
    """Verbatim: Slack links no name, channel or address by itself."""
    return {"type": "mrkdwn", "text": said, "verbatim": True}


def _actions(card: Card) -> Json:
    shown = [b for b in card.buttons if not b.more]
    hidden = [b for b in card.buttons if b.more][:MOST_OPTIONS]
    names = _action_ids(shown)
    elements = [_button(b, name) for b, name in zip(shown, names, strict=True)]
    if hidden:
        elements.append(
            {
                "type": "overflow",
                "action_id": "caveat.more",
                "options": [_option(b) for b in hidden],
            }
        )
    return {"type": "actions", "block_id": "actions", "elements": elements[:25]}


def _action_ids(shown: list[Button]) -> list[str]:
    """One id each; the same action on several subjects is numbered."""
    seen: dict[str, int] = {}
    names = []
    for b in shown:
        number = seen.get(b.action, 0)
        seen[b.action] = number + 1
        names.append(f"caveat.{b.action}" + (f".{number}" if number else ""))
    return names


def _button(button: Button, name: str) -> Json:
    made: Json = {
        "type": "button",
        "action_id": name,
        "text": _label(button.label, MOST_BUTTON),
        "value": button.token or button.action,
    }
    return made if button.style == "plain" else {**made, "style": button.style.value}


def _option(button: Button) -> Json:
    return {"text": _label(button.label, MOST_BUTTON), "value": button.token or button.action}


def _label(text: str, most: int) -> Json:
    return {"type": "plain_text", "text": escape(cut(text, most, escaped_size)), "emoji": False}


def size(message: SlackMessage) -> int:
    """Characters of everything shown in the blocks."""
    return sum(u16(text) for block in message.blocks for text in _texts(block))


def _texts(node: Any) -> list[str]:
    if isinstance(node, dict):
        own = [node["text"]] if isinstance(node.get("text"), str) else []
        return own + [t for value in node.values() for t in _texts(value)]
    if isinstance(node, list | tuple):
        return [t for value in node for t in _texts(value)]
    return []


def _fits(message: SlackMessage) -> bool:
    longest = max((u16(t) for b in message.blocks for t in _texts(b)), default=0)
    few = len(message.blocks) <= MOST_BLOCKS
    return few and longest <= MOST_SECTION and size(message) <= MOST_CHARACTERS
