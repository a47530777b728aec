"""Making any text inert and any card short enough: cut first, escape second, wrap third."""

import re
import unicodedata
from collections.abc import Callable

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
from cards.card import Text as Prose

MOST_WORD = 600
MOST_CODE = 400
MOST_LABEL = 60
MOST_URL = 300
MOST_MARKS = 3
"""Combining marks kept on one letter."""

_CONTROL = re.compile(
    "[\u0000-\u0008\u000e-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff"
    "\ufff9-\ufffb\U000e0000-\U000e007f]"
)
_BREAKS = re.compile("[\t\n\u000b\u000c\r\u0085\u2028\u2029]+")
_SURROGATE = re.compile("[\ud800-\udfff]")
_RTL = "\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff"
_RTL_RUN = re.compile(f"[{_RTL}](?:[^·\n]*[{_RTL}])?")


def inert(text: str) -> str:
    """Drop what controls a terminal or a line's direction; breaks become spaces."""
    text = _SURROGATE.sub("\ufffd", text)
    return _few_marks(_CONTROL.sub("", _BREAKS.sub(" ", text)))


def _few_marks(text: str) -> str:
    if text.isascii():
        return text
    kept: list[str] = []
    run = 0
    for char in text:
        run = run + 1 if unicodedata.combining(char) else 0
        if run <= MOST_MARKS:
            kept.append(char)
    return "".join(kept)


def clean(text: str) -> str:
    """A value from outside on one line, its spaces collapsed."""
    return " ".join(inert(text).split())


def isolate(text: str) -> str:
    """Keep right-to-left runs from turning their neighbours around."""
    return text if text.isascii() else _RTL_RUN.sub(lambda run: f"\u2068{run[0]}\u2069", text)


def u16(text: str) -> int:
    """Length in UTF-16 code units, the way chats count."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def cut(text: str, most: int, size: Callable[[str], int] = u16) -> str:
    """Shorten to `most` units as `size` counts them, an ellipsis at the end."""
    if size(text) <= most:
        return text
    used, kept = size("…"), 0
    for char in text:
        used += size(char)
        if used > most:
            break
        kept += 1
    # Marks that only count together are longer than the sum of their characters.
    while kept and size(text[:kept].rstrip() + "…") > most:
        kept -= 1 + kept // 50
    return text[:kept].rstrip() + "…" if most > 0 else ""


def leaf(text: str, most: int, size: Callable[[str], int] = u16) -> str:
    """A value ready to be escaped: inert, cut, direction held."""
    short = cut(inert(text), most, size)
    runs = len(_RTL_RUN.findall(short))
    return isolate(cut(short, most - 2 * runs, size)) if runs else short


def clamp(card: Card) -> Card:
    """Make every leaf of a card inert and no longer than a leaf may be."""
    return card.model_copy(
        update={
            "heading": leaf(card.heading, 150),
            "lock_screen": leaf(card.lock_screen, 110),
            "sections": tuple(_section(section) for section in card.sections),
            "footer": _line(card.footer),
            "buttons": tuple(
                b.model_copy(update={"label": leaf(b.label, MOST_LABEL)}) for b in card.buttons
            ),
        }
    )


def _section(section: Section) -> Section:
    blocks = tuple(_block(block) for block in section.blocks)
    return section.model_copy(update={"title": _line(section.title), "blocks": blocks})


def _block(block: Block) -> Block:
    lines = tuple(_line(line) for line in block.lines)
    if isinstance(block, Quote):
        return block.model_copy(update={"lines": lines, "title": leaf(block.title, MOST_LABEL)})
    return block.model_copy(update={"lines": lines})


def _line(line: Line) -> Line:
    return tuple(_span(span) for span in line)


def _span(span: Span) -> Span:
    match span:
        case Word():
            return span.model_copy(update={"text": leaf(span.text, MOST_WORD)})
        case Code():
            return span.model_copy(update={"text": leaf(span.text.strip(), MOST_CODE)})
        case Link(label=label, url=url) if len(url) > MOST_URL:
            return Word(text=leaf(f"{label} {url}", MOST_URL))
        case Link(label=label, url=url):
            return span.model_copy(update={"label": leaf(label, MOST_LABEL), "url": inert(url)})
        case Mention():
            return span.model_copy(update={"name": leaf(span.name, MOST_LABEL)})
        case Moment():
            return span


def without_links(card: Card, allowed: Callable[[str], bool]) -> Card:
    """The card without the optional links that may not be links here."""
    kept = [_kept(section, allowed) for section in card.sections]
    return card.model_copy(update={"sections": tuple(s for s in kept if s.title or s.blocks)})


def _kept(section: Section, allowed: Callable[[str], bool]) -> Section:
    blocks = []
    for block in section.blocks:
        lines = tuple(line for line in (_linked(li, allowed) for li in block.lines) if line)
        if lines:
            blocks.append(block.model_copy(update={"lines": lines}))
    return section.model_copy(update={"blocks": tuple(blocks)})


def _linked(line: Line, allowed: Callable[[str], bool]) -> Line:
    """A line without its optional links, and without the mark that stood before each."""
    kept: list[Span] = []
    for span in line:
        if isinstance(span, Link) and span.optional and not allowed(span.url):
            if kept and isinstance(kept[-1], Word) and kept[-1].text == " · ":
                kept.pop()
            continue
        kept.append(span)
    if kept and isinstance(kept[0], Word) and kept[0].text == " · ":
        kept.pop(0)
    return tuple(kept)


def shorter(card: Card) -> Card | None:
    """Take away the line that is least missed; None when nothing is left to take."""
    if card.buttons and not card.sections:
        return card.model_copy(update={"buttons": ()})
    if not card.sections:
        return card.model_copy(update={"footer": ()}) if card.footer else None
    least = min(card.sections, key=lambda section: (section.keep, -section.rank))
    reduced = _without_last(least)
    kept = (reduced if s is least else s for s in card.sections)
    return card.model_copy(update={"sections": tuple(s for s in kept if s is not None)})


def _without_last(section: Section) -> Section | None:
    """A section without its last line; None when that was all it said."""
    if not section.blocks:
        return None
    *first, last = section.blocks
    lines = last.lines[:-1]
    blocks = (*first, last.model_copy(update={"lines": lines})) if lines else tuple(first)
    return section.model_copy(update={"blocks": blocks}) if blocks else None


def fit(card: Card, fits: Callable[[Card], bool]) -> Card:
    """The card with as much of it as `fits` takes, the least important lines gone first."""
    card = clamp(card)
    while not fits(card):
        reduced = shorter(card)
        if reduced is None:
            break
        card = reduced
    return card


SMALLER_KEEP = 80


def smaller(card: Card) -> Card:
    """The same card with only what a person must know; for a chat that refused the whole."""
    kept = [section for section in card.sections if section.keep >= SMALLER_KEEP]
    bare = tuple(b for b in card.buttons if not b.more)
    return card.model_copy(update={"sections": tuple(_unquoted(s) for s in kept), "buttons": bare})


def _unquoted(section: Section) -> Section:
    blocks = tuple(b for b in section.blocks if isinstance(b, Prose | Caveats))
    return section.model_copy(update={"blocks": blocks})
