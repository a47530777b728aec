"""Text as words with their surroundings, in one pass; no word is looked at that is too long."""

import re
from collections.abc import Container, Iterator
from dataclasses import dataclass

LONGEST_TEXT = 4_000_000
LONGEST_WORD = 2_048

# Quotes, brackets, dashes and arrows end a word; commas, colons and slashes are judged later.
_CJK = "".join(map(chr, (0x3001, 0x3002, 0x300A, 0x300B, 0x300C, 0x300D)))
_WIDE = "".join(chr(0xFEE0 + ord(mark)) for mark in ",;:!?()")
_DELIMITERS = rf"\s\"'`“”\u2018\u2019(){{}}\[\];<>|—→{_CJK}{_WIDE}"
_WORD = re.compile(f"[^{_DELIMITERS}]+")
_NEXT = re.compile(rf"\s{{0,8}}([^{_DELIMITERS}]+)")
_TRAILING = ".,:!?*…\\\x1b"
_LEADING = "*,:!?…"
_FIGURES = frozenset("0123456789,.:-+~≈\u2013")
_NAMING = (":", "=")
_ANNOUNCE = frozenset({"event", "reason", "-n"})
"""What makes the next word a name, however plain it is."""
_ENDS_SENTENCE = frozenset(".!?;")


@dataclass(slots=True)
class Word:
    """One word and what stands around it."""

    text: str
    """Without the punctuation that ends a sentence or a list."""
    start: int
    opener: str
    """The character right before it, empty at the beginning."""
    closer: str
    """The character right after it, empty at the end."""
    before: str
    """The word before it in lower case, empty at the beginning of a sentence."""
    key: str
    """The name this word is the value of, as in `"name": word` and `name: word`."""

    @property
    def end(self) -> int:
        """Where it ends."""
        return self.start + len(self.text)


def words(text: str, wanted: Container[str] = ()) -> Iterator[Word]:
    """Cut a text into words; those longer than any name are left out.

    Words of letters alone, as most of a language are, come only where they are the value of a
    key or stand in `wanted`; they are still the `before` of the next one.
    """
    text = text[:LONGEST_TEXT]
    key, last = "", ""
    for found in _WORD.finditer(text):
        raw = found.group()
        if (
            not key
            and raw.isalpha()
            and (raw.islower() or raw.istitle())
            and raw not in wanted
            and last not in _ANNOUNCE
        ):
            last = raw
            continue
        begin = found.start()
        if raw[0] == ":" and raw[1:2] != ":":
            key, last = last, ""
            if raw == ":":
                continue
        if len(raw) > LONGEST_WORD:
            key = last = ""
            continue
        for at, part in _parts(raw, begin) if "," in raw else ((begin, raw),):
            word = _cut(text, at, part, last, key)
            key = ""
            if word is not None:
                yield word
                last, key = _left_by(word, part)


def _cut(text: str, at: int, part: str, last: str, key: str) -> Word | None:
    word = part.rstrip(_TRAILING)
    clean = word if word.startswith("::") else word.lstrip(_LEADING)
    if not clean:
        return None
    end = at + len(word)
    start = end - len(clean)
    before = last if not last or last.islower() else last.lower()
    return Word(clean, start, text[start - 1 : start], text[end : end + 1], before, key)


def _left_by(word: Word, part: str) -> tuple[str, str]:
    """Say what the word leaves for the next: what came before it, and what names it."""
    last = "" if word.closer in _ENDS_SENTENCE else word.text
    return last, word.text.rstrip("=") if part.endswith(_NAMING) else ""


def word_after(text: str, word: Word) -> str:
    """Give the next word of the same phrase, empty where punctuation stands between."""
    found = _NEXT.match(text, word.end)
    return found[1].rstrip(_TRAILING) if found else ""


def _parts(raw: str, begin: int) -> Iterator[tuple[int, str]]:
    """Cut a list at its commas; the commas of `1,248` and of `17:15:01,032` stay."""
    if not _FIGURES.isdisjoint(raw[:1]):
        yield begin, raw
        return
    at = begin
    for part in raw.split(","):
        yield at, part
        at += len(part) + 1
