"""Loki: log lines by a query over a stretch of time."""

from datetime import UTC, datetime

from pydantic import BaseModel, Field, ValidationError

from bot.backends.http import BackendSettings, BoundedHttp, HttpReply
from engine.model.evidence import (
    Answered,
    Empty,
    Gap,
    GapCause,
    Invalid,
    InvalidReason,
    Outcome,
    Question,
)

_OK, _BAD = 200, 400
_NS = 1_000_000_000
_NAMES = ("pod", "container", "host", "instance")
"""Labels that tell one writer of lines from another."""


class LokiSettings(BackendSettings):
    """How Loki is asked."""

    max_lines: int = Field(500, gt=0)


class _Stream(BaseModel):
    stream: dict[str, str] = {}
    values: list[tuple[int, str]]


class _Streams(BaseModel):
    result: list[_Stream]


class _Body(BaseModel):
    data: _Streams


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


def _ns(at: datetime) -> str:
    return str(int(at.timestamp() * 1000) * 1_000_000)


def _answer(reply: HttpReply | Gap, query: str, at: datetime) -> Outcome:
    if isinstance(reply, Gap):
        return reply
    if reply.status == _BAD:
        said = reply.body[:200].decode("utf-8", "replace")
        return Invalid(expression=query, reason=InvalidReason.BAD_DATA, detail=said)
    if reply.status != _OK:
        return Gap(cause=GapCause.REFUSED, detail=str(reply.status))
    try:
        streams = _Body.model_validate_json(reply.body).data.result
    except ValidationError:
        return Gap(cause=GapCause.GARBLED, detail="not the JSON of a Loki")
    lines = _lines(streams)
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
