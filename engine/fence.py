"""Text of strangers, made safe to show and to quote: nothing hidden, nothing endless, fenced in."""

import json
import re
from collections.abc import Mapping

LABEL_CHARACTERS = 256
ANNOTATION_BYTES = 2_048
LOG_LINE_BYTES = 1_024
CUT = "…"
SHORTEST_DELIMITER = 12

_LINE_ENDS = re.compile("\r\n|[\r\u0085\u2028\u2029\x0b\x0c]")
_INVISIBLE = re.compile(
    "["
    "\x00-\x08\x0e-\x1f\x7f-\x9f"  # control characters but tab and the line's end
    "\u00ad\u034f\u061c\u070f\u115f\u1160\u17b4\u17b5\u180b-\u180f"  # soft hyphen, joiners, fillers
    "\u200b-\u200f\u202a-\u202e\u2060-\u206f"  # zero width, bidi marks and overrides
    "\u3164\ufe00-\ufe0e\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff"  # fillers, variants, byte order mark
    "\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff"  # tags and variants: whole sentences fit in, unseen
    "]"
)
_HALF = re.compile("[\ud800-\udfff]")
_PLAIN_DELIMITER = re.compile("[A-Za-z0-9_-]+")


def strip_invisible(text: str) -> str:
    """Take out what a person cannot see but a model or a terminal obeys.

    Lines end in one way; half characters become the replacement character.
    """
    return _HALF.sub("\ufffd", _INVISIBLE.sub("", _LINE_ENDS.sub("\n", text)))


def label(text: str) -> str:
    """A label value on one line, at most 256 characters."""
    flat = " ".join(strip_invisible(text).split())
    return flat if len(flat) <= LABEL_CHARACTERS else flat[: LABEL_CHARACTERS - 1] + CUT


def annotation(text: str) -> str:
    """An annotation, at most 2 KB."""
    return _within(strip_invisible(text).strip(), ANNOTATION_BYTES)


def log_line(text: str) -> str:
    """A log line, really one line, at most 1 KB."""
    return _within(" ".join(strip_invisible(text).split("\n")).strip(), LOG_LINE_BYTES)


def _within(text: str, max_bytes: int) -> str:
    raw = text.encode()
    if len(raw) <= max_bytes:
        return text
    return raw[: max_bytes - len(CUT.encode())].decode("utf-8", "ignore") + CUT


def fence(delimiter: str, fields: Mapping[str, str]) -> str:
    """Quote fields as one JSON object a line between marks that cannot occur inside.

    Args:
        delimiter: drawn at random for this triage, so that no text can have guessed it.
        fields: text by the name of the field it came from.

    Raises:
        ValueError: the delimiter is too short or not plain enough to be safe.
    """
    if len(delimiter) < SHORTEST_DELIMITER or not _PLAIN_DELIMITER.fullmatch(delimiter):
        raise ValueError("a delimiter is at least 12 plain characters")
    lines = (
        f'{{"field":{_quoted(name, delimiter)},"text":{_quoted(text, delimiter)}}}'
        for name, text in fields.items()
    )
    return "\n".join([f"<untrusted {delimiter}>", *lines, f"</untrusted {delimiter}>"])


def _quoted(text: str, delimiter: str) -> str:
    """JSON text; one that holds the delimiter is written all in escapes, which never can."""
    whole = _HALF.sub("\ufffd", text)
    said = json.dumps(whole, ensure_ascii=False)
    if delimiter.lower() not in said.lower():
        return said
    units = whole.encode("utf-16-be").hex()
    return '"' + "".join(f"\\u{units[n : n + 4]}" for n in range(0, len(units), 4)) + '"'
