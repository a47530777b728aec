"""Telegram's HTML: the tags it knows, and its own words about what it does not.

Source: core.telegram.org/bots/api#html-style; the messages and their offsets are the Bot API's.
"""

import html
import re
import sys
from dataclasses import dataclass, field

from bot.drill.doubles.telegram_words import RefusedError, units

TAGS = frozenset(
    [
        *("a", "b", "strong", "i", "em", "s", "strike", "del", "u", "ins", "span", "pre", "code"),
        *("blockquote", "tg-spoiler", "tg-emoji", "tg-time"),
    ]
)
MAX_ENTITIES = 100

_REFERENCE = re.compile(r"&(?:(lt|gt|amp|quot);?|#(?:[xX]([0-9a-fA-F]{1,6})|([0-9]{1,7}));?)")
_NAMED = {"lt": "<", "gt": ">", "amp": "&", "quot": '"'}
_TAG_NAME = re.compile(r"[^\s>]*")
_ATTRIBUTE_NAME = re.compile(r"[^\s=>/\"']*")
_TOKEN = re.compile(r"[A-Za-z0-9.\-]*")
_SPACES = re.compile(r"\s*")
_ONE_LABEL = re.compile(r"^(?:https?://)?(?:[^/?#@]*@)?[^./?#:\[]+(?::\d+)?(?:[/?#]|$)")


@dataclass(frozen=True)
class Entity:
    """A marked stretch of text; offset and length in UTF-16 units."""

    kind: str
    offset: int
    length: int
    argument: str = ""


@dataclass(frozen=True)
class Formatted:
    """The text without its tags, and what they marked."""

    text: str
    entities: tuple[Entity, ...] = ()


@dataclass
class _Open:
    """A tag that waits for its end."""

    name: str
    offset: int
    argument: str = ""


@dataclass
class _Reader:
    """One pass over the source; `at` is a character position."""

    source: str
    at: int = 0
    out: list[str] = field(default_factory=list)
    length: int = 0
    """UTF-16 units written so far."""
    open: list[_Open] = field(default_factory=list)
    entities: list[Entity] = field(default_factory=list)

    def wrong(self, reason: str, position: int) -> RefusedError:
        """Make the refusal that points at `position`, in bytes as Telegram counts."""
        offset = len(self.source[:position].encode("utf-8", "surrogatepass"))
        return RefusedError(
            400, f"Bad Request: can't parse entities: {reason} at byte offset {offset}"
        )

    def match(self, pattern: re.Pattern[str]) -> str:
        """Read on as far as `pattern` goes."""
        found = pattern.match(self.source, self.at)
        text = found[0] if found else ""
        self.at += len(text)
        return text

    def peek(self) -> str:
        """Look at the next character; empty at the end."""
        return self.source[self.at : self.at + 1]

    def write(self, text: str) -> None:
        """Give text as it will be read."""
        self.out.append(text)
        self.length += units(text)


def parse(source: str) -> Formatted:
    """Read HTML as Telegram does.

    Raises:
        RefusedError: In Telegram's words, with the byte offset of the tag.
    """
    reader = _Reader(source)
    while char := reader.peek():
        if char == "&":
            _read_reference(reader)
        elif char != "<":
            reader.at += 1
            reader.write(char)
        elif source.startswith("</", reader.at):
            _read_end(reader)
        else:
            _read_start(reader)
    if reader.open:
        name = reader.open[-1].name
        reason = f'Can\'t find end tag corresponding to start tag "{name}"'
        raise RefusedError(400, f"Bad Request: can't parse entities: {reason}")
    entities = sorted(reader.entities, key=lambda each: (each.offset, -each.length))
    return Formatted("".join(reader.out), tuple(entities[:MAX_ENTITIES]))


def _read_reference(reader: _Reader) -> None:
    """Read `&lt;` and its kind; an unknown one stays as it is."""
    found = _REFERENCE.match(reader.source, reader.at)
    if found is None:
        reader.at += 1
        reader.write("&")
        return
    reader.at = found.end()
    name, hexadecimal, decimal = found.groups()
    code = int(hexadecimal, 16) if hexadecimal else int(decimal or 0)
    reader.write(_NAMED[name] if name else chr(code) if 0 < code <= sys.maxunicode else found[0])


def _read_start(reader: _Reader) -> None:
    begin = reader.at
    reader.at += 1
    name = reader.match(_TAG_NAME).lower()
    if not reader.peek():
        raise reader.wrong("Unclosed start tag", begin)
    if name not in TAGS:
        raise reader.wrong(f'Unsupported start tag "{name}"', begin)
    argument = ""
    while True:
        reader.match(_SPACES)
        if reader.peek() == ">":
            break
        argument = _read_attribute(reader, name, begin) or argument
    if name == "span" and argument != "tg-spoiler":
        raise reader.wrong('Tag "span" must have class "tg-spoiler"', begin)
    reader.at += 1
    reader.open.append(_Open(name, reader.length, argument))


def _read_attribute(reader: _Reader, tag: str, begin: int) -> str:
    """Read one attribute and give its value if it means something on this tag."""
    name = reader.match(_ATTRIBUTE_NAME).lower()
    if not name:
        raise reader.wrong(f'Empty attribute name in the tag "{tag}"', begin)
    reader.match(_SPACES)
    if reader.peek() != "=":
        if not reader.peek():
            raise reader.wrong(f'Unclosed start tag "{tag}"', begin)
        return name if (tag, name) == ("blockquote", "expandable") else ""
    reader.at += 1
    reader.match(_SPACES)
    if not reader.peek():
        raise reader.wrong(f'Unclosed start tag "{tag}"', begin)
    value = _read_value(reader)
    if not reader.peek():
        raise reader.wrong("Unclosed start tag", begin)
    meant = {"a": "href", "code": "class", "span": "class", "tg-emoji": "emoji-id"}
    meant |= {"tg-time": "unix", "blockquote": "expandable"}
    return value if meant.get(tag) == name else ""


def _read_value(reader: _Reader) -> str:
    quote, begin = reader.peek(), reader.at
    if quote not in {"'", '"'}:
        value = reader.match(_TOKEN).lower()
        if reader.peek() and not reader.peek().isspace() and reader.peek() != ">":
            raise reader.wrong("Unexpected end of name token", begin)
        return value
    end = reader.source.find(quote, begin + 1)
    end = len(reader.source) if end < 0 else end
    reader.at = end + 1
    return html.unescape(reader.source[begin + 1 : end])


def _read_end(reader: _Reader) -> None:
    begin = reader.at
    if not reader.open:
        raise reader.wrong("Unexpected end tag", begin)
    reader.at += 2
    name = reader.match(_TAG_NAME).lower()
    reader.match(_SPACES)
    if reader.peek() != ">":
        raise reader.wrong("Unclosed end tag", begin)
    reader.at += 1
    last = reader.open.pop()
    if name and name != last.name:
        offset = len(reader.source[:begin].encode("utf-8", "surrogatepass"))
        reason = f'expected "</{last.name}>", found "</{name}>"'
        reason = f"Unmatched end tag at byte offset {offset}, {reason}"
        raise RefusedError(400, f"Bad Request: can't parse entities: {reason}")
    length = reader.length - last.offset
    if length and not (last.name == "a" and has_one_label(last.argument)):
        reader.entities.append(Entity(last.name, last.offset, length, last.argument))


def has_one_label(url: str) -> bool:
    """Whether the host of `url` is one word: Telegram links to no such host."""
    return bool(_ONE_LABEL.match(url)) and not url.startswith("tg:")
