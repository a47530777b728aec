"""The words of a symptom that would be the same the next time; names of single things fall out."""

import re
from collections.abc import Iterator
from typing import Final

MOST_CHARS: Final = 20_000
_LONGEST_WORD = 60
_ONE_TIME: Final = re.compile(
    r"https?://\S+|\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?|\b[0-9a-f]{8,}\b|/dev/\w+|/var/\S+",
    re.IGNORECASE,
)
"""Addresses, hashes and devices: another case has others."""
_TOKEN: Final = re.compile(r"[^\W_]+(?:[-_.][^\W_]+)*")
_NUMBERED: Final = re.compile(r"[-_]\d+\Z")
"""The third of many: a pod, a shard, a cluster."""
_SEAM: Final = re.compile(r"[-_.]|(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_SHORT_NUMBER: Final = re.compile(r"[^\W\d_]+\d")
_STATUS: Final = re.compile(r"\dxx")


def tokens(text: str) -> Iterator[tuple[str, ...]]:
    """Give each token as its parts: `KubePodCrashLooping` is (kube, pod, crash, looping)."""
    for found in _TOKEN.finditer(_ONE_TIME.sub(" ", text[:MOST_CHARS])):
        token = found.group()
        if _NUMBERED.search(token):
            continue
        parts = tuple(part for raw in _SEAM.split(token) if (part := _part(raw.lower())))
        if parts:
            yield parts


def words(text: str) -> Iterator[str]:
    """Give every word in order, and after its parts each name that is made of several."""
    for parts in tokens(text):
        yield from parts
        if len(parts) > 1:
            yield joined(parts)


def joined(parts: tuple[str, ...]) -> str:
    """A name of several parts as one word."""
    return "".join(parts)[:_LONGEST_WORD]


def _part(raw: str) -> str:
    """Take the numbers off a part; a status such as 5xx is one that stays."""
    part = raw if _SHORT_NUMBER.fullmatch(raw) else raw.rstrip("0123456789")
    if part[:1].isdigit() and not _STATUS.fullmatch(part):
        return ""
    return part[:_LONGEST_WORD]
