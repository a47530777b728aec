"""A card as Markdown for files, tickets and the API."""

import re

from cards.card import (
    Block,
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
from cards.render.limits import fit, u16, without_links
from cards.render.links import Allowed, nowhere

MOST = 12_000
BREAK = "\u200b"

_MARKS = re.compile(r"([\\`*_\[\]<>#|~&!{}])")
_LINKS = re.compile(r"(?<=:)(?=//)|(?<=@)(?=\w)|(?<=www)(?=\.)", re.IGNORECASE)
_TICKS = re.compile(r"`+")


def render(card: Card, allowed: Allowed = nowhere) -> str:
    """Draw any card."""
    return _page(
        fit(without_links(card, allowed), lambda tried: u16(_page(tried, allowed)) <= MOST), allowed
    )


def _page(card: Card, allowed: Allowed) -> str:
    heading = [f"### {_word(unmarked.headed(card))}"] if card.heading else []
    sections = [said for section in card.sections if (said := _section(section, allowed))]
    footer = [f"<sub>{_line(card.footer, allowed)}</sub>"] if card.footer else []
    buttons = [" ".join(f"`[{_tickless(b.label)}]`" for b in card.buttons if not b.more)]
    parts = [*heading, *sections, *buttons, *footer]
    return "\n\n".join(part for part in parts if part) + "\n"


def _section(section: Section, allowed: Allowed) -> str:
    title = [_line(section.title, allowed)] if section.title else []
    blocks = [_block(block, allowed) for block in section.blocks]
    return "\n\n".join(filter(None, ["  \n".join([*title, *blocks[:1]]), *blocks[1:]]))


def _block(block: Block, allowed: Allowed) -> str:
    lines = [_line(line, allowed) for line in block.lines]
    match block:
        case Caveats():
            return "  \n".join(f"⚠ {line}" for line in lines)
        case Quote(title=title):
            return "  \n".join([f"> **{_word(title)}**", *(f"> {line}" for line in lines)])
        case _:
            return "  \n".join(lines)


def _line(line: Line, allowed: Allowed) -> str:
    """A line; one that starts like a list or a rule gets something before its mark."""
    said = "".join(_span(span, allowed) for span in line)
    return BREAK + said if said.lstrip()[:1] in ("-", "+", "=") else said


def _span(span: Span, allowed: Allowed) -> str:
    match span:
        case Word(text=text, bold=bold):
            return _bold(text) if bold else _word(text)
        case Code(text=text):
            return _code(text)
        case Moment(at=at, date=date):
            return unmarked.clock(at, date=date)
        case Link(label=label, url=url) if allowed(url):
            return f"[{_word(label)}](<{url}>)"
        case Link(label=label, url=url):
            return f"{_word(label)} {_code(unmarked.line((Word(text=url),)))}"
        case Mention(name=name):
            return f"**{_word(name)}**"


def _word(text: str) -> str:
    return _LINKS.sub(BREAK, _MARKS.sub(r"\\\1", text))


def _bold(text: str) -> str:
    core = text.strip()
    if not core:
        return text
    start = text[: len(text) - len(text.lstrip())]
    return f"{start}**{_word(core)}**{text[len(text.rstrip()) :]}"


def _code(text: str) -> str:
    """A code span with a fence longer than any run of ticks in it."""
    if not text:
        return ""
    longest = max((len(run) for run in _TICKS.findall(text)), default=0)
    fence = "`" * (longest + 1)
    return f"{fence} {text} {fence}" if longest else f"{fence}{text}{fence}"


def _tickless(text: str) -> str:
    return text.replace("`", "'")
