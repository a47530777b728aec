"""What a client sent: query, JSON, form or multipart, as one set of named values."""

import json
import re
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl

from starlette.requests import Request

_NAME = re.compile(rb'[; ]name="([^"]*)"')
_FILE = re.compile(rb'filename="?([^";\r\n]*)')


@dataclass(frozen=True)
class Upload:
    """A file inside a multipart body."""

    filename: str
    content: bytes


@dataclass
class Arguments:
    """The named values of a request, and its files."""

    values: dict[str, Any] = field(default_factory=dict)
    files: dict[str, Upload] = field(default_factory=dict)


async def read(request: Request) -> Arguments:
    """Read the arguments wherever the client put them; values of forms stay text."""
    body = await request.body()
    kind = request.headers.get("content-type", "")
    given = Arguments(dict(request.query_params))
    if kind.startswith("application/json"):
        given.values |= json.loads(body or b"{}")
    elif kind.startswith("multipart/form-data"):
        _read_parts(body, kind.partition("boundary=")[2].strip('"').encode(), given)
    else:
        given.values |= dict(parse_qsl(body.decode(), keep_blank_values=True))
    return given


def _read_parts(body: bytes, boundary: bytes, into: Arguments) -> None:
    """Split a multipart body by its boundary."""
    for part in body.split(b"--" + boundary)[1:-1]:
        head, _, content = part.partition(b"\r\n\r\n")
        name, filename = _NAME.search(head), _FILE.search(head)
        if name is None:
            continue
        content = content.removesuffix(b"\r\n")
        if filename:
            into.files[name[1].decode()] = Upload(filename[1].decode(), content)
        else:
            into.values[name[1].decode()] = content.decode()


def nested(value: Any) -> Any:
    """Read a value that forms carry as JSON inside text."""
    return json.loads(value) if isinstance(value, str) else value


def flag(value: Any) -> bool:
    """Read a boolean as either encoding writes it."""
    return value in (True, 1, "1", "true", "True")
