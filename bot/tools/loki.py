"""Loki: log lines by a query over a stretch of time."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Annotated

from pydantic import BaseModel, Field

from bot.backends.http import BackendSettings, BoundedHttp, HttpReply, read
from engine.model.evidence import (
    Answered,
    Empty,
    Gap,
    Invalid,
    InvalidReason,
    Outcome,
    Question,
)

_BAD = 400
_NS = 1_000_000_000
_NAMES = ("pod", "container", "host", "instance")
"""Labels that tell one writer of lines from another."""
_Ns = Annotated[int, Field(ge=0, lt=2**63)]


class LokiSettings(BackendSettings):
    """How Loki is asked."""

    max_lines: int = Field(500, gt=0)


class _Stream(BaseModel):
    stream: dict[str, str] = {}
    values: list[tuple[_Ns, str]]


class _Streams(BaseModel):
    result: list[_Stream]


class _Body(BaseModel):
    data: _Streams


class _Labels(BaseModel):
    data: list[str] = []


class LokiTool:
    """Answers questions in LogQL; every accident is a value."""

    name = "logs"

    def __init__(self, http: BoundedHttp, settings: LokiSettings) -> None:
        self._http = http
        self._settings = settings

    async def ask(self, question: Question) -> Outcome:
        """Give the newest lines of the window, oldest first; each entry once."""
        [query] = question.queries.values()
        assert question.window is not None, "lines are asked of a stretch of time"
        params = {
            "query": query,
            "start": _ns(question.window.start_at),
            "end": _ns(question.window.end_at),
            "limit": str(self._settings.max_lines),
            "direction": "backward",
        }
        reply = await self._http.get("/loki/api/v1/query_range", params)
        return _answer(reply, query, question.window.end_at)

    async def labels(self) -> Sequence[str] | Gap:
        """Give the labels of the lines that were written lately."""
        body = read(await self._http.get("/loki/api/v1/labels"), _Labels, "a Loki")
        return body if isinstance(body, Gap) else body.data


def _ns(at: datetime) -> str:
    return str(int(at.timestamp() * 1000) * 1_000_000)


def _answer(reply: HttpReply | Gap, query: str, at: datetime) -> Outcome:
    if isinstance(reply, HttpReply) and reply.status == _BAD:
        said = reply.body[:200].decode("utf-8", "replace")
        return Invalid(expression=query, reason=InvalidReason.BAD_DATA, detail=said)
    body = read(reply, _Body, "a Loki")
    if isinstance(body, Gap):
        return body
    lines = _lines(body.data.result)
    return Answered(evaluated_at=at, lines=lines) if lines else Empty(evaluated_at=at)


def _lines(streams: list[_Stream]) -> tuple[str, ...]:
    """Put the entries of all streams in order; the same one sent twice is one."""
    entries = {
        (at, _writer(stream), line) for stream in streams for at, line in stream.values if line
    }
    return tuple(
        f"{datetime.fromtimestamp(at / _NS, UTC):%Y-%m-%d %H:%M:%S}Z {writer}{line}"
        for at, writer, line in sorted(entries)
    )


def _writer(stream: _Stream) -> str:
    name = next((stream.stream[label] for label in _NAMES if label in stream.stream), "")
    return f"{name}: " if name else ""
