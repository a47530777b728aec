"""Prometheus's HTTP API over loopback, in front of planted series."""

import asyncio
import math
from collections.abc import Awaitable, Callable, Iterable, Mapping
from decimal import Decimal
from typing import Any
from urllib.parse import parse_qsl

import promql_parser as promql
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from bot.drill.doubles.faults import Fault, FaultLine, Now, suffer
from bot.drill.doubles.prometheus_parameters import (
    BadParameterError,
    Parameters,
    parse_selector,
)
from bot.drill.doubles.promql_eval import Evaluation, ParseError
from bot.drill.doubles.promql_series import NAME, ExecutionError, Labels, Series, Signal, Store
from bot.drill.doubles.promql_values import Sample, Value, Window, key_of

Json = dict[str, Any]
MAX_STEPS = 11_000


class MetricsDouble:
    """A Prometheus with planted series, alerts and rules.

    Args:
        now: Its wall clock; the time of queries that give none.
    """

    def __init__(self, now: Now) -> None:
        self.now = now
        self.store = Store()
        self.alerts: list[Json] = []
        self.groups: list[Json] = []
        """Rule groups as `/api/v1/rules` gives them."""
        self.about: dict[str, tuple[str, str]] = {}
        """Type and help by metric name."""
        self.config = "global:\n  scrape_interval: 15s\n"
        self.asked: list[tuple[str, str]] = []
        """Endpoint and query of every request, oldest first."""
        self.faults = FaultLine()
        self.broken: Fault | None = None
        """What every request ends in until it is cleared."""
        self.app = Starlette(
            routes=[
                Route("/-/{probe}", self._probe),
                Route("/api/v1/label/{label}/values", self._serve),
                Route("/api/v1/{endpoint:path}", self._serve, methods=["GET", "POST"]),
            ]
        )

    def plant(
        self,
        name: str,
        labels: Labels | None = None,
        source: Signal | Iterable[tuple[float, float]] | float = 1.0,
    ) -> None:
        """Add a series: a function of unix time, a list of points, or one value for ever."""
        self.store.plant(name, labels or {}, source)

    def fail_next(self, endpoint: str, fault: Fault, times: int = 1) -> None:
        """Let the next `times` requests of `endpoint`, such as `query_range`, end in `fault`."""
        self.faults.add(endpoint, fault, times)

    async def _probe(self, request: Request) -> Response:
        async def accept() -> Response:
            state = {"ready": "Ready", "healthy": "Healthy"}.get(request.path_params["probe"])
            if state is None:
                return PlainTextResponse("404 page not found", 404)
            return PlainTextResponse(f"Prometheus Server is {state}.\n")

        return await suffer(self.broken, accept)

    async def _serve(self, request: Request) -> Response:
        endpoint = request.path_params.get("endpoint", "values")
        form = parse_qsl((await request.body()).decode(), keep_blank_values=True)
        given = Parameters([*request.query_params.multi_items(), *form], self.now().timestamp())
        if "label" in request.path_params:
            given.pairs.append(("label", request.path_params["label"]))
        self.asked.append((endpoint, given.one("query")))

        async def accept() -> Response:
            return await self._answer(endpoint, given)

        return await suffer(self.faults.take(endpoint) or self.broken, accept)

    async def _answer(self, endpoint: str, given: Parameters) -> Response:
        """Answer in Prometheus's envelope."""
        answer = self._endpoints().get(endpoint)
        if answer is None:
            return PlainTextResponse("404 page not found\n", 404)
        try:
            found = answer(given)
            told = await found if isinstance(found, Awaitable) else found
            return JSONResponse({"status": "success", "data": told})
        except ParseError as error:
            return _error(400, "bad_data", f'invalid parameter "query": {error}')
        except BadParameterError as error:
            return _error(400, "bad_data", str(error))
        except ExecutionError as error:
            return _error(422, "execution", str(error))

    def _endpoints(self) -> Mapping[str, Callable[[Parameters], object]]:
        return {
            "query": self._query,
            "query_range": self._query_range,
            "series": self._series,
            "labels": self._labels,
            "values": self._values,
            "alerts": lambda _: {"alerts": self.alerts},
            "rules": lambda _: {"groups": self.groups},
            "targets": self._targets,
            "metadata": self._metadata,
            "format_query": lambda given: given.query().prettify(),
            "status/buildinfo": lambda _: {"version": "2.42.0", "revision": "rehearsal"},
            "status/config": lambda _: {"yaml": self.config},
        }

    def _query(self, given: Parameters) -> Json:
        at = given.time("time", given.now)
        expr = given.query()
        value = Evaluation(self.store, at).value(expr)
        if isinstance(expr, promql.MatrixSelector | promql.SubqueryExpr):
            return _windows(value)
        return _instant(value, at)

    async def _query_range(self, given: Parameters) -> Json:
        start, end, step = given.time("start"), given.time("end"), given.step()
        if end < start:
            reason = "end timestamp must not be before start time"
            raise BadParameterError(f'invalid parameter "end": {reason}')
        if (end - start) / step > MAX_STEPS:
            raise BadParameterError(
                "exceeded maximum resolution of 11,000 points per timeseries."
                " Try decreasing the query resolution (?step=XX)"
            )
        expr = given.query()
        if isinstance(expr, promql.MatrixSelector | promql.SubqueryExpr):
            reason = 'invalid expression type "range vector" for range query'
            raise ParseError(f"{reason}, must be Scalar or instant Vector")
        moments = [start + n * step for n in range(math.floor((end - start) / step) + 1)]
        return await self._matrix(expr, moments)

    async def _matrix(self, expr: promql.Expr, moments: list[float]) -> Json:
        """Evaluate step by step; whoever shares the loop gets a turn in between."""
        found: dict[object, Json] = {}
        for at in moments:
            await asyncio.sleep(0)
            value = Evaluation(self.store, at).value(expr)
            for sample in _as_samples(value):
                fresh: Json = {"metric": dict(sample.labels), "values": []}
                row = found.setdefault(key_of(sample.labels), fresh)
                row["values"].append([at, written(sample.value)])
        ordered = sorted(found.values(), key=lambda row: key_of(row["metric"]))
        return {"resultType": "matrix", "result": ordered}

    def _matching(self, given: Parameters) -> list[Series]:
        """Find the series of `match[]` that live between `start` and `end`."""
        start, end = given.time("start", -math.inf), given.time("end", given.now)
        start = max(start, end - 86_400)
        wanted = [parse_selector(text) for text in given.all("match[]")]
        found = self.store.series
        if wanted:
            chosen = {id(s): s for selector in wanted for s in self.store.select(selector)}
            found = list(chosen.values())
        return [series for series in found if series.lives(start, end)]

    def _series(self, given: Parameters) -> list[Labels]:
        if not given.all("match[]"):
            raise BadParameterError("no match[] parameter provided")
        return [series.labels for series in self._matching(given)]

    def _labels(self, given: Parameters) -> list[str]:
        return sorted({name for series in self._matching(given) for name in series.labels})

    def _values(self, given: Parameters) -> list[str]:
        label = given.one("label")
        return sorted({s.labels[label] for s in self._matching(given) if label in s.labels})

    def _targets(self, given: Parameters) -> Json:
        """Every series of `up` is a target."""
        targets = []
        for series in self.store.series:
            if series.labels[NAME] == "up":
                labels = {name: value for name, value in series.labels.items() if name != NAME}
                health = "up" if series.at(given.now) else "down"
                targets.append({"labels": labels, "discoveredLabels": {}, "health": health})
        return {"activeTargets": targets, "droppedTargets": []}

    def _metadata(self, given: Parameters) -> Json:
        wanted = given.one("metric")
        return {
            name: [{"type": kind, "help": text, "unit": ""}]
            for name, (kind, text) in self.about.items()
            if wanted in {"", name}
        }


def written(value: float) -> str:
    """Write a number as Prometheus does: as short as it can be, never with an exponent."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    return format(Decimal(repr(value)), "f").removesuffix(".0")


def _as_samples(value: Value) -> list[Sample]:
    if isinstance(value, float):
        return [Sample({}, value)]
    return [each for each in value if isinstance(each, Sample)]


def _instant(value: Value, at: float) -> Json:
    if isinstance(value, float):
        return {"resultType": "scalar", "result": [at, written(value)]}
    if isinstance(value, str):
        return {"resultType": "string", "result": [at, value]}
    rows = [{"metric": s.labels, "value": [at, written(s.value)]} for s in _as_samples(value)]
    return {"resultType": "vector", "result": rows}


def _windows(value: Value) -> Json:
    windows = (
        [each for each in value if isinstance(each, Window)] if isinstance(value, list) else []
    )
    rows = [
        {"metric": each.labels, "values": [[at, written(v)] for at, v in each.points]}
        for each in windows
    ]
    return {"resultType": "matrix", "result": rows}


def _error(status: int, kind: str, error: str) -> Response:
    return JSONResponse({"status": "error", "errorType": kind, "error": error}, status)
