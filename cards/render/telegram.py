"""A card as Telegram HTML with its keyboard: cut first, escape second, wrap third."""

import html
import re

from cards.card import (
    Block,
    Button,
    ButtonStyle,
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
from cards.render.links import Allowed, host_of, nowhere
from engine.model.base import Frozen

MOST_CARD = 1800
MOST_WITH_QUOTE = 3500
MOST_PLAIN = 3500
MOST_ENTITIES = 95
MOST_LABEL = 32
PER_ROW = 2
PER_MENU_ROW = 3

_TAG = re.compile(r"<[^>]*>")
_OPEN = re.compile(r"<(?:b|i|code|a|tg-time|blockquote)\b")
_ACCOUNT = re.compile(r"[0-9]{1,16}")
_QUOTE = re.compile(r"<blockquote expandable>.*?</blockquote>", re.DOTALL)
_TOKEN = re.compile(r"\S+")
_LIGHTS_UP = re.compile(
    r"://|@\w|#\w|\$[A-Za-z]|(?<![\w/<>])/[A-Za-z0-9_]|[^\W_][.\u3002][^\W\d_]{2,}"
    r"|\d\.\d+\.\d+\.\d|tg:|mailto:|\d[\d -]{10,}\d|\+\d{5,}"
)
BREAK = "\u2060"
"""Joins without showing: takes an address apart for Telegram's own linking."""
_OPENERS = ("@", "#", "$", "/", ".", ":", "+")
_APART = re.compile(r"(?<=[@#$/.:])(?=[\w/])")


class KeyButton(Frozen):
    """One key under a message."""

    label: str
    data: str
    """At most 64 bytes: a random token."""
    primary: bool = False


class TelegramMessage(Frozen):
    """Arguments of a send or an edit."""

    text: str
    keyboard: tuple[tuple[KeyButton, ...], ...] = ()
    html: bool = True
    """False: the text is sent without a parse mode."""


def escape(text: str) -> str:
    """The three characters Telegram's HTML reads as markup."""
    return html.escape(text, quote=False)


def render(card: Card, allowed: Allowed = nowhere) -> TelegramMessage:
    """Draw any card within every budget."""
    fitted = fit(without_links(card, allowed), lambda tried: _fits(_html(tried, allowed)))
    return TelegramMessage(text=_html(fitted, allowed), keyboard=keyboard(fitted))


def plain(card: Card) -> TelegramMessage:
    """The card without markup, for a chat that refused the HTML."""
    text = apart(unmarked.text(card, MOST_CARD))
    return TelegramMessage(text=cut(text, MOST_PLAIN), keyboard=(), html=False)


def visible(text: str) -> str:
    """What is left of our HTML when its tags are gone; every `<` in it is ours."""
    return html.unescape(_TAG.sub("", text))


def _fits(text: str) -> bool:
    entities = len(_OPEN.findall(text))
    before = u16(visible(_QUOTE.sub("", text)))
    return (
        entities <= MOST_ENTITIES and before <= MOST_CARD and u16(visible(text)) <= MOST_WITH_QUOTE
    )


def _html(card: Card, allowed: Allowed) -> str:
    parts = [_heading(card)] if card.heading else []
    above: Section | None = None
    for section in card.sections:
        said = "\n".join(_rows(section, allowed))
        said = said if visible(said).strip() else ""
        if said and unmarked.attached(section, above):
            parts[-1:] = ["\n".join([*parts[-1:], said])]
        elif said:
            parts.append(said)
        above = section if said else above
    footer = [f"<i>{_line(card.footer, allowed)}</i>"] if card.footer else []
    whole = "\n\n".join([*parts, *footer])
    found = (text for text in (whole, escape(apart(card.lock_screen))) if visible(text).strip())
    return next(found, "…")


def _heading(card: Card) -> str:
    """The sign, then the rest in bold; some cards carry no sign."""
    sign = unmarked.SIGN[card.tone]
    return f"{sign} <b>{escape(apart(card.heading))}</b>".strip()


def _rows(section: Section, allowed: Allowed) -> list[str]:
    title = [_line(section.title, allowed)] if section.title else []
    return [*title, *(row for block in section.blocks for row in _block(block, allowed))]


def _block(block: Block, allowed: Allowed) -> list[str]:
    lines = [_line(line, allowed) for line in block.lines]
    match block:
        case Caveats():
            return [f"⚠ {line}" for line in lines]
        case Quote(title=title):
            inner = "\n".join([f"<b>{escape(apart(title))}</b>", *lines])
            return [f"<blockquote expandable>{inner}</blockquote>"] if lines else []
        case _:
            return lines


def _line(line: Line, allowed: Allowed) -> str:
    """A line; what one span ends with and the next begins with must not light up together."""
    said = ""
    for span in line:
        more = _span(span, allowed)
        said += BREAK + more if more and visible(said).endswith(_OPENERS) else more
    return said


def _span(span: Span, allowed: Allowed) -> str:
    match span:
        case Word(text=text, bold=bold):
            return f"<b>{escape(apart(text))}</b>" if bold and text.strip() else _words(text)
        case Code(text=text):
            return f"<code>{escape(text)}</code>" if text else ""
        case Moment(at=at, date=date):
            said = unmarked.clock(at, date=date)
            form = "dt" if date else "t"
            return f'<tg-time unix="{int(at.timestamp())}" format="{form}">{said}</tg-time>'
        case Link(label=label, url=url):
            return _link(label, url, allowed)
        case Mention(account=account, name=name):
            known = _ACCOUNT.fullmatch(account)
            said = escape(apart(name))
            return f'<a href="tg://user?id={account}">{said}</a>' if known and said else said


def _words(text: str) -> str:
    """Words; whatever Telegram would link by itself becomes a machine string."""
    return (
        _TOKEN.sub(lambda token: _token(token[0]), text)
        if _LIGHTS_UP.search(text)
        else escape(text)
    )


def _token(token: str) -> str:
    if not _LIGHTS_UP.search(token):
        return escape(token)
    core = token.strip(".,;()…")
    start, _, end = token.partition(core) if core else (token, "", "")
    return f"{escape(start)}<code>{escape(core)}</code>{escape(end)}" if core else escape(token)


def apart(text: str) -> str:
    """Text in which Telegram finds nothing to link, where code is not possible."""
    if not _LIGHTS_UP.search(text):
        return text
    return _TOKEN.sub(
        lambda token: _APART.sub(BREAK, token[0]) if _LIGHTS_UP.search(token[0]) else token[0], text
    )


def _link(label: str, url: str, allowed: Allowed) -> str:
    """A host without a dot silently loses its link, so it is shown as text."""
    said = escape(apart(label))
    if allowed(url) and "." in host_of(url) and said.strip():
        return f'<a href="{html.escape(url)}">{said}</a>'
    shown = cut(unmarked.line((Word(text=url),)), 200)
    return f"{said} <code>{escape(shown)}</code>" if shown.strip() else said


def keyboard(card: Card) -> tuple[tuple[KeyButton, ...], ...]:
    """Two keys a row; what stands under the menu comes below, three a row."""
    shown = [b for b in card.buttons if not b.more]
    menu = [b for b in card.buttons if b.more]
    return (*_in_rows(shown, PER_ROW), *_in_rows(menu, PER_MENU_ROW))


def _in_rows(buttons: list[Button], per_row: int) -> tuple[tuple[KeyButton, ...], ...]:
    starts = range(0, len(buttons), per_row)
    return tuple(tuple(_key(b) for b in buttons[start : start + per_row]) for start in starts)


def _key(button: Button) -> KeyButton:
    data = (button.token or button.action).encode()[:64].decode(errors="ignore")
    primary = button.style is ButtonStyle.PRIMARY
    return KeyButton(label=cut(button.label, MOST_LABEL) or "…", data=data, primary=primary)
