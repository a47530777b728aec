"""The rehearsal metrics server, by plain HTTP."""

import math
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest

from bot.drill.doubles.faults import Hang, Slow, answer, bad_gateway
from bot.drill.doubles.prometheus import MetricsDouble, written
from bot.drill.doubles.promql_eval import Evaluation, parse
from bot.drill.doubles.promql_values import vector_of
from bot.drill.doubles.serve import serve
from tests.drill.shop import plant

NOON = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
AT = NOON.timestamp()


@asynccontextmanager
async def metrics() -> AsyncIterator[tuple[MetricsDouble, httpx.AsyncClient]]:
    double = MetricsDouble(lambda: NOON)
    plant(double, AT)
    async with (
        serve(double.app) as url,
        httpx.AsyncClient(verify=False, base_url=url, timeout=1) as client,
    ):
        yield double, client


async def ask(client: httpx.AsyncClient, query: str, **more: Any) -> Any:
    reply = await client.get("/api/v1/query", params={"query": query, **more})
    return reply.json()["data"]["result"]


async def one(client: httpx.AsyncClient, query: str) -> float:
    (row,) = await ask(client, query)
    return float(row["value"][1])


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("sum(up)", 2),
        ('count(up{job="shop"})', 3),
        ('sum(up{instance!~"b.*"})', 2),
        ('up{instance="a:9100"} offset 5m', 1),
        ('rate(http_requests_total{instance="a:9100",code="200"}[5m])', 0.2),
        ('increase(http_requests_total{instance="a:9100",code="200"}[5m])', 60),
        ("max(max_over_time(up[30m]))", 1),
        ('changes(up{instance="b:9100"}[30m])', 1),
        ('resets(http_requests_total{instance="b:9100",code="500"}[1h])', 2),
        ('absent(nothing{job="shop"})', 1),
        ("scalar(sum(up)) * vector(3)", 6),
        ("histogram_quantile(0.5, sum by (le) (rate(latency_bucket[5m])))", 0.1 + 0.4 / 3),
        ("sum(up == bool 0) / count(up)", 1 / 3),
        ("count(up < 1)", 1),
        ("max_over_time(sum(up)[30m:1m])", 3),
        ("clamp_max(sum(up), 1)", 1),
        ("abs(-sum(up))", 2),
        ("count(up unless on (instance) owner)", 1),
        ("count(up and on (instance) owner)", 2),
        ("topk(1, sum by (instance) (http_requests_total))", 1292),
        ("vector(time())", AT),
    ],
)  # fmt: skip
def test_what_a_context_pack_asks(query: str, expected: float) -> None:
    double = MetricsDouble(lambda: NOON)
    plant(double, AT)
    (sample,) = vector_of(Evaluation(double.store, AT).value(parse(query)))
    assert sample.value == pytest.approx(expected)


async def test_grouping_and_matching_keep_the_right_labels() -> None:
    async with metrics() as (_, client):
        by = await ask(client, "sum by (zone) (up)")
        assert sorted((r["metric"]["zone"], r["value"][1]) for r in by) == [("x", "1"), ("y", "1")]
        (row,) = await ask(client, 'up{instance="a:9100"} * on (instance) group_left (team) owner')
        assert row["metric"]["team"] == "red"
        assert "__name__" not in row["metric"]
        (row,) = await ask(
            client, 'label_replace(up{instance="a:9100"}, "pod", "$1", "instance", "(.*):.*")'
        )
        assert row["metric"]["pod"] == "a"


async def test_a_series_without_fresh_samples_is_not_there() -> None:
    async with metrics() as (_, client):
        assert await ask(client, "gone") == []
        assert len(await ask(client, "gone", time=AT - 1200)) == 1


async def test_a_function_of_time_ends_where_it_says_nothing() -> None:
    async with metrics() as (double, client):
        double.plant("half", {}, lambda at: 5.0 if at < AT - 60 else None)
        assert await ask(client, "half") == []
        assert await one(client, "count_over_time(half[2m])") == 4


async def test_a_range_query_gives_a_row_a_series() -> None:
    async with metrics() as (_, client):
        given = {"query": "sum by (zone) (up)", "start": AT - 60, "end": AT, "step": "30s"}
        data = (await client.post("/api/v1/query_range", data=given)).json()["data"]
        assert data["resultType"] == "matrix"
        assert [len(row["values"]) for row in data["result"]] == [3, 3]


@pytest.mark.parametrize(
    ("params", "status", "kind", "start"),
    [
        ({"query": "sum("}, 400, "bad_data", 'invalid parameter "query": 1:5: parse error: '),
        ({"query": "rate(up)"}, 400, "bad_data", 'invalid parameter "query": 1:1: parse error: '),
        ({"query": "(" * 9000}, 400, "bad_data", 'invalid parameter "query": 1:1: parse error: '),
        ({"query": "up", "time": "soon"}, 400, "bad_data", 'invalid parameter "time": '),
        ({"query": "holt_winters(up[1h],1,1)"}, 400, "bad_data", 'invalid parameter "query": '),
        ({"query": "up + on (job) up"}, 422, "execution", "found duplicate series for the match"),
        ({"query": "predict_linear(up[5m], 1) @ end()"}, 400, "bad_data", "invalid parameter"),
        ({"query": "up @ end()"}, 422, "execution", "@ start() and @ end() are not part"),
    ],
)  # fmt: skip
async def test_errors_have_prometheus_shape(
    params: Any, status: int, kind: str, start: str
) -> None:
    async with metrics() as (_, client):
        reply = await client.get("/api/v1/query", params=params)
        body = reply.json()
        assert (reply.status_code, body["status"], body["errorType"]) == (status, "error", kind)
        assert body["error"].startswith(start)


@pytest.mark.parametrize(
    ("change", "start"),
    [
        ({"end": AT - 99_999}, 'invalid parameter "end": '),
        ({"step": 0}, 'invalid parameter "step": '),
        ({"step": "soon"}, 'invalid parameter "step": '),
        ({"start": AT - 999_999, "step": 1}, "exceeded maximum resolution of 11,000 points"),
        ({"query": "up[5m]"}, 'invalid parameter "query": invalid expression type'),
    ],
)
async def test_a_wrong_range_is_not_the_querys_fault(change: Any, start: str) -> None:
    given = {"query": "up", "start": AT - 60, "end": AT, "step": 15} | change
    async with metrics() as (_, client):
        reply = await client.get("/api/v1/query_range", params=given)
        assert (reply.status_code, reply.json()["errorType"]) == (400, "bad_data")
        assert reply.json()["error"].startswith(start)


async def test_what_there_is_can_be_listed() -> None:
    async with metrics() as (double, client):
        double.alerts.append({"labels": {"alertname": "High"}, "state": "firing"})
        double.groups.append({"name": "shop", "rules": []})
        double.about["up"] = ("gauge", "Whether the target answers.")

        async def data(path: str, **params: Any) -> Any:
            return (await client.get(f"/api/v1/{path}", params=params)).json()["data"]

        assert len(await data("series", **{"match[]": ['up{zone="x"}', "owner"]})) == 4
        assert "team" in await data("labels")
        assert await data("labels", **{"match[]": "gone"}) == ["__name__", "job"]
        assert await data("label/team/values") == ["blue", "red"]
        assert "gone" in await data("label/__name__/values")
        recent = {"start": AT - 60, "end": AT}
        assert "gone" not in await data("label/__name__/values", **recent)
        assert (await data("alerts"))["alerts"] == double.alerts
        assert (await data("rules"))["groups"] == double.groups
        assert (await data("status/buildinfo"))["version"] == "2.42.0"
        assert "scrape_interval" in (await data("status/config"))["yaml"]
        health = [target["health"] for target in (await data("targets"))["activeTargets"]]
        assert health == ["up", "down", "up"]
        assert (await data("metadata", metric="up"))["up"][0]["type"] == "gauge"
        assert await data("format_query", query="sum(up)by(job)") == "sum by (job) (up)"
        assert (await client.get("/-/ready")).text == "Prometheus Server is Ready.\n"
        assert (await client.get("/api/v1/series")).json()[
            "error"
        ] == "no match[] parameter provided"
        assert (await client.get("/api/v1/nothing")).status_code == 404


async def test_faults_come_when_they_are_planted() -> None:
    async with metrics() as (double, client):
        double.fail_next("query", answer(500, {"status": "error", "errorType": "internal"}))
        double.fail_next("query", bad_gateway())
        double.fail_next("query", Slow(0.05))
        codes = [(await client.get("/api/v1/query?query=up")).status_code for _ in range(3)]
        assert codes == [500, 502, 200]
        double.broken = Hang()
        with pytest.raises(httpx.ReadTimeout):
            await client.get("/-/ready")
        double.broken = None
        assert (await client.get("/api/v1/query?query=up")).status_code == 200
        assert double.asked[-1] == ("query", "up")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1.0, "1"), (0.25, "0.25"), (1e21, "1000000000000000000000"), (1e-7, "0.0000001"),
        (math.inf, "+Inf"), (-math.inf, "-Inf"), (math.nan, "NaN"),
    ],
)  # fmt: skip
def test_numbers_are_written_without_exponents(value: float, text: str) -> None:
    assert written(value) == text
