"""JSON as senders really write it, made safe to store."""

import json
import math
import re
from collections.abc import Iterator
from typing import Any

from bot.sources.source import UnreadableError

MAX_DEPTH = 64
LONGEST_INTEGER = 400
"""Digits; Python refuses to read integers of more than 4,300."""

_UNENCODABLE = re.compile("[\ud800-\udfff\x00]")
_ESCAPED_BYTE = re.compile("[\udc80-\udcff]")
_COMPRESSED = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"\x78\x9c")
_OTHER_ENCODINGS = (b"\xff\xfe", b"\xfe\xff", b"\x00", b"{\x00", b"[\x00")


def read_json(body: bytes) -> Any:
    """Read a body that holds one JSON document.

    NaN and the infinities become text: they are no JSON, and databases refuse them.

    Raises:
        UnreadableError: it is not JSON, or deeper than any sender has reason to be.
    """
    text = _decoded(body)
    if not text.strip():
        raise UnreadableError("The body is empty.")
    try:
        document = json.loads(text, parse_constant=str, parse_int=_integer)
    except RecursionError:
        raise UnreadableError(f"The JSON is nested deeper than {MAX_DEPTH} levels.") from None
    except json.JSONDecodeError as error:
        raise UnreadableError(_why(error)) from None
    if _deeper_than(document, MAX_DEPTH):
        raise UnreadableError(f"The JSON is nested deeper than {MAX_DEPTH} levels.")
    return document


def _decoded(body: bytes) -> str:
    """Decode UTF-8, with or without a mark; a stray byte is taken for Latin-1.

    One shell with the wrong locale must not cost an alert, and a byte always becomes the same
    character, so the fingerprint holds.
    """
    if body.startswith(_COMPRESSED):
        raise UnreadableError("The body is compressed; send it as it is.", 415)
    if body.startswith(_OTHER_ENCODINGS):
        raise UnreadableError("The body is not UTF-8.", 415)
    text = body.decode("utf-8", "surrogateescape").removeprefix("\ufeff")
    return _ESCAPED_BYTE.sub(lambda byte: chr(ord(byte[0]) - 0xDC00), text)


def _integer(digits: str) -> int | str:
    return int(digits) if len(digits) <= LONGEST_INTEGER else digits


def _why(error: json.JSONDecodeError) -> str:
    if error.msg == "Extra data":
        return f"The body holds more than one JSON document (at character {error.pos})."
    return f"The body is not JSON: {error.msg} at character {error.pos}."


def _deeper_than(document: Any, limit: int) -> bool:
    layer = [document]
    for _ in range(limit + 1):
        layer = [inner for outer in layer for inner in _inside(outer)]
        if not layer:
            return False
    return True


def _inside(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        return (v for v in value.values() if isinstance(v, dict | list))
    if isinstance(value, list):
        return (v for v in value if isinstance(v, dict | list))
    return iter(())


def as_text(value: Any) -> str:
    """Say any JSON value as text a database takes: null is empty, objects are JSON."""
    match value:
        case None:
            return ""
        case str():
            return storable(value)
        case bool():
            return "true" if value else "false"
        case float() if not math.isfinite(value):
            return "Infinity" if value > 0 else "-Infinity"
        case int() | float():
            return json.dumps(value)
        case _:
            return as_json(value)


def as_json(value: Any) -> str:
    """Say any JSON value as JSON a database takes."""
    return storable(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def storable(text: str) -> str:
    """Take out what no database can hold: half characters are replaced, NUL is dropped."""
    return _UNENCODABLE.sub(lambda bad: "" if bad[0] == "\x00" else "\ufffd", text)


def text_map(value: Any) -> dict[str, str]:
    """Say a JSON object as text by text; anything else is an empty map."""
    if not isinstance(value, dict):
        return {}
    return {storable(name): as_text(inner) for name, inner in value.items()}
