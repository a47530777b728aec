"""Accidents a double has on request: a lost reply, silence, slowness, another answer."""

import asyncio
import json
from collections import defaultdict, deque
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from starlette.responses import Response
from starlette.types import Receive, Scope, Send
from typing_extensions import override

from bot.drill.doubles.serve import ABORT, cut

Now = Callable[[], datetime]
"""Wall clock of a double, aware, UTC."""


@dataclass(frozen=True)
class ReplyLost:
    """The connection is cut without a byte of an answer."""

    accepted: bool = True
    """Whether the request took effect before the reply was lost."""


@dataclass(frozen=True)
class Slow:
    """The answer is right, and late."""

    delay_s: float


@dataclass(frozen=True)
class Hang:
    """The request is read and never answered."""


@dataclass(frozen=True)
class Answer:
    """Another answer instead of the right one; the request takes no effect."""

    status: int
    body: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    media_type: str = "application/json"

    def response(self) -> Response:
        """Give it as what the server sends."""
        return Response(self.body, self.status, dict(self.headers), self.media_type)


Fault = ReplyLost | Slow | Hang | Answer


def answer(status: int, body: Any, headers: Mapping[str, str] | None = None) -> Answer:
    """Make an answer with a JSON body."""
    return Answer(status, json.dumps(body), headers or {})


def bad_gateway() -> Answer:
    """What a proxy says when the service behind it is away: a page, not JSON."""
    page = "<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>\r\n"
    page += "<center><h1>502 Bad Gateway</h1></center>\r\n</body>\r\n</html>\r\n"
    return Answer(502, page, media_type="text/html")


def prevents(fault: Fault | None) -> bool:
    """Whether a call that meets `fault` takes no effect."""
    return isinstance(fault, Answer | Hang) or fault == ReplyLost(accepted=False)


class Severed(Response):
    """A response that is none: the connection ends."""

    @override
    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Say nothing."""
        await cut(scope[ABORT], receive)


class FaultLine:
    """Faults that wait for the next call of their method."""

    def __init__(self) -> None:
        self.waiting: defaultdict[str, deque[Fault]] = defaultdict(deque)

    def add(self, method: str, fault: Fault, times: int = 1) -> None:
        """Let the next `times` calls of `method` end in `fault`."""
        self.waiting[method].extend([fault] * times)

    def take(self, method: str) -> Fault | None:
        """Take the fault that is due, if one is."""
        line = self.waiting[method]
        return line.popleft() if line else None


async def suffer(fault: Fault | None, accept: Callable[[], Awaitable[Response]]) -> Response:
    """Answer with `accept`, as far as `fault` lets it."""
    match fault:
        case None:
            return await accept()
        case ReplyLost(accepted=accepted):
            if accepted:
                await accept()
            return Severed()
        case Slow(delay_s=delay_s):
            await asyncio.sleep(delay_s)
            return await accept()
        case Hang():
            await asyncio.get_running_loop().create_future()
            raise AssertionError("a future nobody holds never ends")
        case Answer():
            return fault.response()
