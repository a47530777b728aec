"""Loki's HTTP API over loopback, in front of planted lines."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from bot.drill.doubles.faults import Fault, suffer
from engine.promql.strings import unquote

_TEXT = r'"(?:[^"\\]|\\.)*"'
_MATCHER = re.compile(rf"\s*([A-Za-z_]\w*)\s*(=~|!~|!=|=)\s*({_TEXT})\s*,?")
_FILTER = re.compile(rf"\s*(\|=|!=|\|~|!~)\s*({_TEXT})")
_NS = 1_000_000_000
Labels = Mapping[str, str]
_TRUE: Mapping[str, Callable[[str, str], bool]] = {
    "=": lambda value, wanted: value == wanted,
    "!=": lambda value, wanted: value != wanted,
    "=~": lambda value, wanted: re.fullmatch(wanted, value) is not None,
    "!~": lambda value, wanted: re.fullmatch(wanted, value) is None,
}
_KEEPS: Mapping[str, Callable[[str, str], bool]] = {
    "|=": lambda line, part: part in line,
    "!=": lambda line, part: part not in line,
    "|~": lambda line, part: re.search(part, line) is not None,
    "!~": lambda line, part: re.search(part, line) is None,
}


class _NoQueryError(Exception):
    """What the parser says."""


@dataclass
class LokiDouble:
    """A Loki that reads selectors and line filters; keeps what it was asked."""

    streams: list[tuple[Labels, list[tuple[datetime, str]]]] = field(default_factory=list)
    broken: Fault | None = None
    """What every request ends in until it is cleared."""
    asked: list[str] = field(default_factory=list)

    @property
    def app(self) -> Starlette:
        """The web application."""
        return Starlette(
            routes=[
                Route("/loki/api/v1/query_range", self._lines),
                Route("/loki/api/v1/labels", self._labels),
            ]
        )

    def plant(self, labels: Labels, *lines: tuple[datetime, str]) -> None:
        """Let somebody have written lines."""
        self.streams.append((labels, list(lines)))

    async def _labels(self, request: Request) -> Response:
        del request

        async def accept() -> Response:
            names = sorted({name for labels, _ in self.streams for name in labels})
            return JSONResponse({"status": "success", "data": names})

        return await suffer(self.broken, accept)

    async def _lines(self, request: Request) -> Response:
        self.asked.append(request.query_params["query"])

        async def accept() -> Response:
            try:
                found = list(self._found(request.query_params))
            except _NoQueryError as error:
                return PlainTextResponse(f"{error}\n", 400)
            return JSONResponse(
                {"status": "success", "data": {"resultType": "streams", "result": found}}
            )

        return await suffer(self.broken, accept)

    def _found(self, asked: Mapping[str, str]) -> Iterator[dict[str, object]]:
        """Give the newest lines that fit, each stream by itself."""
        matchers, filters = _read(asked["query"])
        start, end, limit = (int(asked[name]) for name in ("start", "end", "limit"))
        kept = [
            (int(at.timestamp()) * _NS, number, line)
            for number, (labels, lines) in enumerate(self.streams)
            if all(_TRUE[op](labels.get(name, ""), wanted) for name, op, wanted in matchers)
            for at, line in lines
            if all(_KEEPS[op](line, part) for op, part in filters)
        ]
        newest = sorted((one for one in kept if start <= one[0] < end), reverse=True)[:limit]
        for number in sorted({number for _, number, _ in newest}):
            values = [[str(at), line] for at, of, line in newest if of == number]
            yield {"stream": dict(self.streams[number][0]), "values": values}


def _read(query: str) -> tuple[list[tuple[str, str, str]], list[tuple[str, str]]]:
    inside, closed, after = query.removeprefix("{").partition("}")
    matchers = [(name, op, unquote(text)) for name, op, text in _MATCHER.findall(inside)]
    if not query.startswith("{") or not closed or _MATCHER.sub("", inside).strip():
        raise _NoQueryError(f"parse error at line 1, col 1: syntax error: {query}")
    if not any(op in {"=", "=~"} and wanted for _, op, wanted in matchers):
        raise _NoQueryError("queries require at least one regexp or equality matcher")
    return matchers, [(op, unquote(text)) for op, text in _FILTER.findall(after)]
