"""Prometheus and what speaks like it: queries, its parser as arbiter, its rules."""

import asyncio
import math
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Literal

from pydantic import AwareDatetime, BaseModel, Field, ValidationError

from bot.backends.http import BackendSettings, BoundedHttp, HttpReply, read
from engine.model.alert import Alert
from engine.model.base import Frozen
from engine.model.evidence import (
    Answered,
    Empty,
    Gap,
    GapCause,
    Invalid,
    InvalidReason,
    Outcome,
    Question,
    Series,
)
from engine.ports import ArbiterSays, Clock

WHOSE = "a Prometheus"
_OK = 200
_BAD_QUERY = 'invalid parameter "query"'
_HONOURS_LIMIT = 3
"""First major version that cuts a result at `limit`."""
_OUT_OF_TIME = frozenset({"timeout", "canceled"})


class PrometheusSettings(BackendSettings):
    """How Prometheus is asked."""

    max_series: int = Field(500, gt=0)
    parallel: int = Field(8, gt=0)
    """Queries at once."""


class ServerFacts(Frozen):
    """What the server says of itself."""

    version: str
    """`2.42.0+ds`; empty when it does not say."""
    features: str = ""
    """Value of `--enable-feature`, comma-separated."""


class AlertingRule(Frozen):
    """An alerting rule as the server has it."""

    name: str
    expression: str
    for_s: float
    labels: Mapping[str, str]


class _Failed(BaseModel):
    errorType: str = ""  # noqa: N815 the server's spelling
    error: str = ""


class _Line(BaseModel):
    metric: dict[str, str] = {}
    value: tuple[float, str] | None = None
    values: list[tuple[float, str]] = []


class _Lines(BaseModel):
    resultType: Literal["vector", "matrix"]  # noqa: N815
    result: list[_Line]


class _Single(BaseModel):
    resultType: Literal["scalar", "string"]  # noqa: N815
    result: tuple[float, str]


class _QueryBody(BaseModel):
    data: Annotated[_Lines | _Single, Field(discriminator="resultType")]


class _Rule(BaseModel):
    name: str
    query: str
    duration: float = 0
    labels: dict[str, str] = {}


class _RuleGroup(BaseModel):
    rules: list[_Rule]


class _RuleGroups(BaseModel):
    groups: list[_RuleGroup]


class _RulesBody(BaseModel):
    data: _RuleGroups


class _Active(BaseModel):
    labels: dict[str, str]
    activeAt: AwareDatetime  # noqa: N815


class _ActiveList(BaseModel):
    alerts: list[_Active]


class _AlertsBody(BaseModel):
    data: _ActiveList


class _Build(BaseModel):
    version: str = ""


class _BuildBody(BaseModel):
    data: _Build


class _FlagsBody(BaseModel):
    data: dict[str, str]


class PrometheusTool:
    """Answers questions in PromQL; every accident is a value."""

    name = "metrics"

    def __init__(self, http: BoundedHttp, settings: PrometheusSettings, clock: Clock) -> None:
        self._http = http
        self._settings = settings
        self._clock = clock
        self._turns = asyncio.Semaphore(settings.parallel)
        self._limits = False

    async def ask(self, question: Question) -> Outcome:
        """Run every query of the question; what went worst decides, an answer before silence."""
        async with asyncio.TaskGroup() as group:
            tasks = {
                name: group.create_task(self._one(query, question))
                for name, query in question.queries.items()
            }
        return _together({name: task.result() for name, task in tasks.items()})

    async def judge(self, expression: str) -> tuple[ArbiterSays, str]:
        """Have the server parse an expression without running it."""
        reply = await self._http.post_form("/api/v1/format_query", {"query": expression})
        if isinstance(reply, Gap):
            return ArbiterSays.UNREACHABLE, reply.detail or reply.cause
        if reply.status == _OK:
            return ArbiterSays.VALID, ""
        refused = _refusal(reply, expression)
        says = ArbiterSays.INVALID if isinstance(refused, Invalid) else ArbiterSays.UNREACHABLE
        return says, refused.detail

    async def rules(self) -> Sequence[AlertingRule] | Gap:
        """Every alerting rule."""
        body = read(await self._http.get("/api/v1/rules", {"type": "alert"}), _RulesBody, WHOSE)
        if isinstance(body, Gap):
            return body
        return [
            AlertingRule(name=r.name, expression=r.query, for_s=r.duration, labels=r.labels)
            for group in body.data.groups
            for r in group.rules
        ]

    async def active_at(self, alert: Alert) -> datetime | None:
        """When the rule's condition became true for this alert; None when it cannot say.

        External labels and relabelling come after the rule, so the server's labels need only be
        part of the alert's.
        """
        body = read(await self._http.get("/api/v1/alerts"), _AlertsBody, WHOSE)
        if isinstance(body, Gap):
            return None
        known = alert.labels.items()
        return min(
            (a.activeAt for a in body.data.alerts if a.labels.items() <= known), default=None
        )

    async def server_info(self) -> ServerFacts | Gap:
        """Version and flags; from then on the server is told our limit where it honours one."""
        build = read(await self._http.get("/api/v1/status/buildinfo"), _BuildBody, WHOSE)
        if isinstance(build, Gap):
            return build
        flags = read(await self._http.get("/api/v1/status/flags"), _FlagsBody, WHOSE)
        features = "" if isinstance(flags, Gap) else flags.data.get("enable-feature", "")
        major = build.data.version.removeprefix("v").partition(".")[0]
        self._limits = major.isdecimal() and int(major) >= _HONOURS_LIMIT
        return ServerFacts(version=build.data.version, features=features)

    async def _one(self, query: str, question: Question) -> Outcome:
        form = {"query": query, "timeout": f"{self._settings.timeout_s:g}s"}
        if self._limits:
            form["limit"] = str(self._settings.max_series + 1)
        at = question.at or self._clock.now()
        path = "/api/v1/query"
        if (window := question.window) is not None:
            at, path = window.end_at, "/api/v1/query_range"
            form |= {"start": _unix(window.start_at), "step": f"{window.step_s:g}"}
            form["end"] = _unix(window.end_at)
        else:
            form["time"] = _unix(at)
        async with self._turns:
            reply = await self._http.post_form(path, form)
        return self._answer(reply, query, at)

    def _answer(self, reply: HttpReply | Gap, query: str, at: datetime) -> Outcome:
        if isinstance(reply, HttpReply) and reply.status != _OK:
            return _refusal(reply, query)
        body = read(reply, _QueryBody, WHOSE)
        if isinstance(body, Gap):
            return body
        found = _series(body)
        if not found:
            return Empty(evaluated_at=at)
        kept = found[: self._settings.max_series]
        return Answered(evaluated_at=at, results={query: kept}, truncated=len(found) - len(kept))


def _unix(at: datetime) -> str:
    return f"{at.timestamp():.3f}"


def _series(body: _QueryBody) -> tuple[Series, ...]:
    if isinstance(body.data, _Single):
        lines = [_Line(value=body.data.result)] if body.data.resultType == "scalar" else []
    else:
        lines = body.data.result
    found = (Series(labels=line.metric, points=_points(line)) for line in lines)
    return tuple(series for series in found if series.points)


def _points(line: _Line) -> tuple[tuple[float, float], ...]:
    given = line.values if line.value is None else [line.value]
    numbers = ((at, float(text)) for at, text in given)
    return tuple((at, number) for at, number in numbers if math.isfinite(number))


def _together(outcomes: Mapping[str, Outcome]) -> Outcome:
    """Make one outcome of many: hard gap, slow gap, invalid, answered, empty, in this order."""
    gaps = [o for o in outcomes.values() if isinstance(o, Gap)]
    if gaps:
        return next((g for g in gaps if g.cause is not GapCause.TIMED_OUT), gaps[0])
    for outcome in outcomes.values():
        if isinstance(outcome, Invalid):
            return outcome
    answered = {name: o for name, o in outcomes.items() if isinstance(o, Answered)}
    if not answered:
        return next(iter(outcomes.values()))
    return Answered(
        evaluated_at=max(o.evaluated_at for o in answered.values()),
        results={name: series for name, o in answered.items() for series in o.results.values()},
        truncated=sum(o.truncated for o in answered.values()),
    )


def _refusal(reply: HttpReply, query: str) -> Gap | Invalid:
    """Read a refusal: the query's own fault only where the server says so.

    Source: the server blames `time`, `timeout` and too many points with `bad_data` as well.
    """
    try:
        said = _Failed.model_validate_json(reply.body)
    except ValidationError:
        said = _Failed()
    if said.errorType == "bad_data" and said.error.startswith(_BAD_QUERY):
        return Invalid(expression=query, reason=InvalidReason.BAD_DATA, detail=said.error[:300])
    if said.errorType in _OUT_OF_TIME:
        return Gap(cause=GapCause.TIMED_OUT, detail=said.error[:200])
    return reply.refusal(said.error)
