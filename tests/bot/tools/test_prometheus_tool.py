import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qs

import httpx
import pytest

from bot.backends.http import BoundedHttp
from bot.tools.alertmanager import AlertmanagerAlerts
from bot.tools.prometheus import PrometheusSettings, PrometheusTool, ServerFacts
from engine.model.evidence import (
    Answered,
    Empty,
    Gap,
    GapCause,
    Invalid,
    InvalidReason,
    Outcome,
    QueryOutcome,
    Question,
    Window,
    outcome_of,
)
from engine.ports import ArbiterSays
from tests.metrics_fakes import NOW, HandClock, alert

Handler = Callable[[httpx.Request], httpx.Response]
UP = Question(tool="metrics", queries={"up": "up"}, at=NOW)


def tool(handler: Handler, **settings: Any) -> PrometheusTool:
    given = PrometheusSettings(url="http://prometheus.test", **settings)
    clock = HandClock()
    return PrometheusTool(BoundedHttp(given, clock, httpx.MockTransport(handler)), given, clock)


def always(status: int, body: object) -> Handler:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return lambda _: httpx.Response(status, content=content)


def vector(*rows: tuple[dict[str, str], str]) -> dict[str, object]:
    result = [{"metric": labels, "value": [1.5, value]} for labels, value in rows]
    return {"status": "success", "data": {"resultType": "vector", "result": result}}


def refused(error_type: str, error: str) -> dict[str, str]:
    return {"status": "error", "errorType": error_type, "error": error}


INVALID_QUERY = 'invalid parameter "query": 1:7: parse error: unexpected end'


@pytest.mark.proves("S0-55")
@pytest.mark.parametrize(
    ("status", "body", "expected"),
    [
        (400, refused("bad_data", INVALID_QUERY),
         Invalid(expression="up", reason=InvalidReason.BAD_DATA, detail=INVALID_QUERY)),
        (400, refused("bad_data", 'invalid parameter "time": x'), GapCause.REFUSED),
        (400, refused("bad_data", "exceeded maximum resolution of 11,000 points"),
         GapCause.REFUSED),
        (422, refused("execution", "found duplicate series"), GapCause.REFUSED),
        (503, refused("timeout", "query timed out"), GapCause.TIMED_OUT),
        (503, refused("unavailable", "not ready"), GapCause.REFUSED),
        (401, b"go away", GapCause.NOT_LET_IN),
        (302, b"", GapCause.REFUSED),
        (200, b"<html>", GapCause.GARBLED),
        (200, {"status": "success"}, GapCause.GARBLED),
        (200, b"\xff\xfe", GapCause.GARBLED),
    ],
)  # fmt: skip
async def test_every_accident_becomes_a_type(status: int, body: object, expected: object) -> None:
    outcome = await tool(always(status, body)).ask(UP)
    assert (outcome.cause if isinstance(outcome, Gap) else outcome) == expected


@pytest.mark.parametrize(
    ("error", "cause"),
    [
        (httpx.ReadTimeout("slow"), GapCause.TIMED_OUT),
        (httpx.ConnectError("no"), GapCause.UNREACHABLE),
        (httpx.RemoteProtocolError("cut"), GapCause.UNREACHABLE),
    ],
)
async def test_a_broken_transport_is_a_gap(error: httpx.TransportError, cause: GapCause) -> None:
    def fail(_: httpx.Request) -> httpx.Response:
        raise error

    outcome = await tool(fail).ask(UP)
    assert isinstance(outcome, Gap)
    assert outcome.cause is cause


async def test_values_come_as_series_and_what_is_no_number_is_dropped() -> None:
    body = vector(({"pod": "a"}, "20"), ({"pod": "b"}, "NaN"), ({"pod": "c"}, "+Inf"))
    outcome = await tool(always(200, body)).ask(UP)
    assert isinstance(outcome, Answered)
    (series,) = outcome.results["up"]
    assert (series.labels, series.points) == ({"pod": "a"}, ((1.5, 20.0),))
    assert outcome.figure("up") == 20


async def test_only_values_that_are_no_numbers_are_an_empty_answer() -> None:
    outcome = await tool(always(200, vector(({}, "NaN")))).ask(UP)
    assert outcome == Empty(evaluated_at=NOW)


@pytest.mark.parametrize(
    ("data", "points"),
    [
        ({"resultType": "scalar", "result": [1, "3"]}, ((1.0, 3.0),)),
        (
            {"resultType": "matrix", "result": [{"metric": {}, "values": [[1, "3"], [2, "NaN"]]}]},
            ((1.0, 3.0),),
        ),
        ({"resultType": "string", "result": [1, "text"]}, None),
        ({"resultType": "vector", "result": [{"metric": {}, "histogram": [1, {}]}]}, None),
    ],
)
async def test_every_result_type_is_read(
    data: dict[str, object], points: tuple[tuple[float, float], ...] | None
) -> None:
    outcome = await tool(always(200, {"status": "success", "data": data})).ask(UP)
    if points is None:
        assert isinstance(outcome, Empty)
    else:
        assert isinstance(outcome, Answered)
        assert outcome.results["up"][0].points == points


async def test_series_past_the_limit_are_counted_and_left_out() -> None:
    body = vector(*(({"pod": str(n)}, "1") for n in range(7)))
    outcome = await tool(always(200, body), max_series=5).ask(UP)
    assert isinstance(outcome, Answered)
    assert (len(outcome.results["up"]), outcome.truncated) == (5, 2)


async def test_a_question_goes_out_as_a_form_over_its_window() -> None:
    seen: list[tuple[str, str, dict[str, list[str]]]] = []

    def look(request: httpx.Request) -> httpx.Response:
        seen.append((request.method, request.url.path, parse_qs(request.content.decode())))
        return httpx.Response(200, json=vector())

    window = Window(start_at=NOW - timedelta(hours=1), end_at=NOW, step_s=15)
    asked = Question(tool="metrics", queries={"value": "up"}, window=window)
    outcome = await tool(look).ask(asked)
    ((method, path, form),) = seen
    assert (method, path) == ("POST", "/api/v1/query_range")
    assert (form["query"], form["step"]) == (["up"], ["15"])
    assert float(form["end"][0]) - float(form["start"][0]) == 3600
    assert "limit" not in form
    assert outcome == Empty(evaluated_at=NOW)


@pytest.mark.parametrize(
    ("queries", "expected"),
    [
        (["good", "silent"], QueryOutcome.FETCHED),
        (["silent", "silent"], QueryOutcome.EMPTY),
        (["good", "broken"], QueryOutcome.INVALID),
        (["good", "broken", "slow"], QueryOutcome.DEGRADED),
        (["slow", "hard"], QueryOutcome.FAILED),
    ],
)
async def test_of_several_queries_the_worst_decides(
    queries: list[str], expected: QueryOutcome
) -> None:
    replies = {
        "good": (200, vector(({}, "1"))),
        "silent": (200, vector()),
        "broken": (400, refused("bad_data", INVALID_QUERY)),
        "slow": (503, refused("timeout", "")),
        "hard": (500, {}),
    }

    def reply(request: httpx.Request) -> httpx.Response:
        status, body = replies[parse_qs(request.content.decode())["query"][0]]
        return httpx.Response(status, json=body)

    question = Question(tool="metrics", queries={str(n): q for n, q in enumerate(queries)}, at=NOW)
    outcome: Outcome = await tool(reply).ask(question)
    assert outcome_of(outcome) is expected


@pytest.mark.parametrize(
    ("status", "body", "says"),
    [
        (200, {"status": "success", "data": "up"}, ArbiterSays.VALID),
        (400, refused("bad_data", INVALID_QUERY), ArbiterSays.INVALID),
        (404, b"404 page not found", ArbiterSays.UNREACHABLE),
        (503, b"", ArbiterSays.UNREACHABLE),
    ],
)
async def test_the_servers_parser_judges_without_running_anything(
    status: int, body: object, says: ArbiterSays
) -> None:
    assert (await tool(always(status, body)).judge("up"))[0] is says


RULES = {
    "data": {"groups": [{"rules": [{
        "type": "alerting", "name": "CheckoutHighErrorRate", "query": "errors > 0.1",
        "duration": 600, "labels": {"severity": "critical"}, "alerts": [],
    }]}]}
}  # fmt: skip


async def test_rules_tell_their_expression_and_how_long_they_wait() -> None:
    rules = await tool(always(200, RULES)).rules()
    assert not isinstance(rules, Gap)
    assert [(r.name, r.expression, r.for_s) for r in rules] == [
        ("CheckoutHighErrorRate", "errors > 0.1", 600)
    ]
    assert isinstance(await tool(always(500, b"")).rules(), Gap)


async def test_an_alert_is_active_since_its_earliest_row_whose_labels_are_all_its_own() -> None:
    own = {"alertname": "CheckoutHighErrorRate", "service": "checkout-api"}
    other = {"alertname": "CheckoutHighErrorRate", "service": "cart-api"}
    rows = [
        {"labels": own, "activeAt": "2026-03-01T02:45:00Z"},
        {"labels": other, "activeAt": "2026-03-01T01:00:00Z"},
    ]
    asked = tool(always(200, {"data": {"alerts": rows}}))
    assert await asked.active_at(alert()) == datetime(2026, 3, 1, 2, 45, tzinfo=UTC)
    assert await asked.active_at(alert(service="other")) is None
    assert await tool(always(503, b"")).active_at(alert()) is None


@pytest.mark.parametrize(("version", "limits"), [("2.42.0+ds", False), ("3.5.3", True)])
async def test_a_server_that_honours_a_limit_is_told_ours(version: str, *, limits: bool) -> None:
    forms: list[dict[str, list[str]]] = []

    def reply(request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith("buildinfo"):
            return httpx.Response(200, json={"data": {"version": version}})
        if request.url.path.endswith("flags"):
            return httpx.Response(200, json={"data": {"enable-feature": "native-histograms"}})
        forms.append(parse_qs(request.content.decode()))
        return httpx.Response(200, json=vector())

    asked = tool(reply, max_series=5)
    facts = await asked.server_info()
    await asked.ask(UP)
    assert facts == ServerFacts(version=version, features="native-histograms")
    assert (forms[0].get("limit") == ["6"]) is limits


@pytest.mark.parametrize(
    ("status", "body", "expected"),
    [
        (200, b'[{"labels": {"alertname": "A"}}]', 1),
        (200, b"[]", 0),
        (200, b'{"data": []}', GapCause.GARBLED),
        (502, b"", GapCause.REFUSED),
    ],
)
async def test_alertmanager_lists_what_fires_or_says_why_not(
    status: int, body: bytes, expected: object
) -> None:
    settings = PrometheusSettings(url="http://alertmanager.test")
    http = BoundedHttp(settings, HandClock(), httpx.MockTransport(always(status, body)))
    firing = await AlertmanagerAlerts(http, lambda rows: [alert() for _ in rows]).firing()
    assert (firing.cause if isinstance(firing, Gap) else len(firing)) == expected
