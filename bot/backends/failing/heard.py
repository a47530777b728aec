"""What an error's body holds, however it is wrapped: codes, statuses, hints and sentences."""

import json
import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

DEEPEST = 6
"""Levels of JSON inside text that are opened."""
LONGEST = 20_000
MOST_NODES = 5_000

_MOST_TRIES = 20
_QUOTES_US = re.compile(r"(?:^|[\s:\"'(-])(?:(?:messages|tools)\.\d|system(?:[.:\[]|$))")
_SPELLINGS = (("'", '"'), (": None", ": null"), (": True", ": true"), (": False", ": false"))
_CODE_KEYS = frozenset(
    {"code", "type", "error_code", "status", "__type", "error_name", "reason", "errortype"}
)
_STATUS_KEYS = frozenset({"code", "status", "error_code", "status_code"})
_WAIT_KEYS = frozenset({"retry_after", "retryafter", "retrydelay", "retry_delay"})
_IGNORED = frozenset({"request_id", "id", "param", "ray_id", "model", "user_id"})


@dataclass
class Heard:
    """What was found on the way through a body."""

    codes: list[str] = field(default_factory=list)
    """Codes and types in lower case, outermost first."""
    statuses: list[int] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    """Sentences, without the JSON that was opened out of them."""
    waits: list[float] = field(default_factory=list)
    """Seconds."""
    sent: str = ""
    """The request's text: JSON that stands in it too is not opened."""
    nodes: int = 0


def hear(body: object, sent: str = "") -> Heard:
    """Walk a body of any shape; JSON inside text is walked too, unless it is ours.

    Args:
        body: decoded JSON, or text.
        sent: the request's text in lower case.
    """
    heard = Heard(sent=sent)
    todo: deque[tuple[object, int]] = deque([(body, 0)])
    while todo and heard.nodes < MOST_NODES:
        node, depth = todo.popleft()
        heard.nodes += 1
        match node:
            case dict():
                todo += [(value, depth) for value in _fields(node, heard)]
            case list():
                todo += [(value, depth) for value in node]
            case str():
                todo += [(inner, depth + 1) for inner in _sentence(node, heard, depth)]
            case _:
                pass
    return heard


def _fields(node: dict[object, object], heard: Heard) -> Iterator[object]:
    """Keep what names itself; give the rest to be walked."""
    for name, value in node.items():
        key = str(name).lower()
        if key in _WAIT_KEYS:
            heard.waits += _seconds(value)
        elif key in _STATUS_KEYS and _is_status(value):
            heard.statuses.append(int(str(value)))
        elif key in _CODE_KEYS and isinstance(value, str):
            heard.codes.append(value.strip().lower()[:200])
        elif key not in _IGNORED:
            yield value


def _is_status(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | str):
        return False
    return re.fullmatch(r"[1-5]\d\d", str(value), re.ASCII) is not None


def _seconds(value: object) -> list[float]:
    if isinstance(value, str) and re.fullmatch(r"\d{1,6}(?:\.\d{1,9})?s?", value, re.ASCII):
        return [float(value.rstrip("s"))]
    if isinstance(value, bool) or not isinstance(value, int | float):
        return []
    return [float(value)] if abs(value) < 1e9 else []  # noqa: PLR2004 farther is no hint


def _sentence(text: str, heard: Heard, depth: int) -> Iterator[object]:
    """Keep a text without the JSON in it; give that JSON to be walked."""
    text = text[:LONGEST]
    rest, found = _opened(text, heard.sent) if depth < DEEPEST else (text, [])
    if rest.strip():
        heard.words.append(rest.strip())
    yield from found


def _opened(text: str, sent: str) -> tuple[str, list[object]]:
    """Take the JSON values out of a text: its own, or what a gateway quoted in its sentence."""
    kept, found, at = [], [], 0
    for begin in _braces(text):
        parsed = _json_at(text, begin) if begin >= at else None
        if parsed is None or (sent and text[begin : parsed[1]].lower() in sent):
            continue
        kept.append(text[at:begin])
        found.append(parsed[0])
        at = parsed[1]
    return " ".join([*kept, text[at:]]), found


def quoted_from(text: str) -> int:
    """Say where a provider begins to quote our input; the length of the text if it does not."""
    found = _QUOTES_US.search(text)
    return found.start() if found else len(text)


def _braces(text: str) -> Iterator[int]:
    """Give the places where JSON may begin, a few only, and none in what is quoted of us."""
    places = re.finditer(r"[{\[]", text[: quoted_from(text)])
    for count, place in enumerate(places):
        if count >= _MOST_TRIES:
            return
        yield place.start()


def _json_at(text: str, begin: int) -> tuple[object, int] | None:
    """Read the JSON at a place; Python's own spelling with single quotes is read as well."""
    for spelled in (text, _with_double_quotes(text)):
        try:
            value, end = json.JSONDecoder().raw_decode(spelled, begin)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict | list) and value:
            return value, end
    return None


def _with_double_quotes(text: str) -> str:
    """Spell a Python literal as JSON, at the same length."""
    for own, other in _SPELLINGS:
        text = text.replace(own, other)
    return text
