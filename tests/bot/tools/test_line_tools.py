"""Logs, Kubernetes events and compliance facts: what comes back becomes an outcome."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from bot.backends.http import BoundedHttp
from bot.tools.compliance import ComplianceFile
from bot.tools.kubernetes import KubernetesSettings, KubernetesTool
from bot.tools.loki import LokiSettings, LokiTool
from engine.model.evidence import (
    Answered,
    Empty,
    Gap,
    GapCause,
    Invalid,
    InvalidReason,
    Outcome,
    Question,
    Window,
)
from tests.metrics_fakes import NOW, HandClock

Handler = Callable[[httpx.Request], httpx.Response]
WINDOW = Window(start_at=NOW - timedelta(hours=1), end_at=NOW, step_s=15)
LINES = Question(tool="logs", queries={"logs": '{service="a"}'}, window=WINDOW)


def replying(status: int, body: object, seen: list[httpx.Request] | None = None) -> Handler:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()

    def handle(request: httpx.Request) -> httpx.Response:
        if seen is not None:
            seen.append(request)
        return httpx.Response(status, content=content)

    return handle


async def loki(handler: Handler, question: Question = LINES) -> Outcome:
    given = LokiSettings(url="http://loki.test", tenant="acme")
    http = BoundedHttp(given, HandClock(), httpx.MockTransport(handler))
    return await LokiTool(http, given).ask(question)


async def kubernetes(
    handler: Handler, *, namespace: str | None = None, asked: str = "shop", **more: str
) -> Outcome:
    given = KubernetesSettings(url="http://kubernetes.test", namespace=namespace)
    http = BoundedHttp(given, HandClock(), httpx.MockTransport(handler))
    queries = {"namespace": asked, **more}
    return await KubernetesTool(http, given).ask(
        Question(tool="kubernetes", queries=queries, window=WINDOW)
    )


def ns(before_s: float) -> str:
    return str(int((NOW - timedelta(seconds=before_s)).timestamp()) * 10**9)


STREAMS = {
    "status": "success",
    "data": {
        "resultType": "streams",
        "result": [
            {"stream": {"pod": "a-1"}, "values": [[ns(10), "late"], [ns(10), "late"]]},
            {"stream": {"app": "a"}, "values": [[ns(60), "early"], [ns(5), ""]]},
        ],
    },
}


async def test_lines_of_all_streams_come_in_order_each_once() -> None:
    seen: list[httpx.Request] = []
    found = await loki(replying(200, STREAMS, seen))
    assert isinstance(found, Answered)
    assert [line.partition("Z ")[2] for line in found.lines] == ["early", "a-1: late"]
    [request] = seen
    assert (request.method, request.url.path) == ("GET", "/loki/api/v1/query_range")
    assert request.url.params["query"] == '{service="a"}'
    assert int(request.url.params["end"]) - int(request.url.params["start"]) == 3600 * 10**9
    assert request.headers["X-Scope-OrgID"] == "acme"


@pytest.mark.parametrize(("status", "body", "expected"), [
    (200, {"data": {"result": []}}, Empty(evaluated_at=NOW)),
    (400, b"parse error at line 1", Invalid(expression='{service="a"}',
        reason=InvalidReason.BAD_DATA, detail="parse error at line 1")),
    (503, b"", Gap(cause=GapCause.REFUSED, detail="503")),
    (200, b"<html>", Gap(cause=GapCause.GARBLED, detail="not the JSON of a Loki")),
])  # fmt: skip
async def test_whatever_loki_says_is_an_outcome(status: int, body: Any, expected: Outcome) -> None:
    assert await loki(replying(status, body)) == expected


def event(before_s: float, name: str, **more: Any) -> dict[str, Any]:
    at = (NOW - timedelta(seconds=before_s)).astimezone(UTC).isoformat()
    usual = {"type": "Warning", "reason": "BackOff", "message": "restarting", "lastTimestamp": at}
    return {**usual, "involvedObject": {"kind": "Pod", "name": name}, **more}


async def test_events_of_the_window_come_in_order() -> None:
    seen: list[httpx.Request] = []
    items = [event(10, "b", count=7), event(60, "a"), event(7200, "old"),
             event(5, "none", lastTimestamp=None)]  # fmt: skip
    found = await kubernetes(replying(200, {"items": items}, seen), name="b")
    assert isinstance(found, Answered)
    assert [line.partition("Z ")[2] for line in found.lines] == [
        "Warning BackOff Pod/a: restarting",
        "Warning BackOff Pod/b: restarting (7 times)",
    ]
    [request] = seen
    assert (request.method, request.url.path) == ("GET", "/api/v1/namespaces/shop/events")
    assert request.url.params["fieldSelector"] == "involvedObject.name=b"


async def test_a_client_held_to_a_namespace_asks_for_no_other() -> None:
    seen: list[httpx.Request] = []
    found = await kubernetes(replying(200, {"items": []}, seen), namespace="own")
    assert isinstance(found, Invalid)
    assert (found.reason, seen) == (InvalidReason.SCOPE, [])


async def test_a_namespace_cannot_lead_anywhere_else() -> None:
    seen: list[httpx.Request] = []
    found = await kubernetes(replying(200, {"items": []}, seen), asked="a/../b")
    assert isinstance(found, Empty)
    assert seen[-1].url.raw_path.startswith(b"/api/v1/namespaces/a%2F..%2Fb/events")


@pytest.mark.parametrize(("status", "body", "cause"), [
    (403, b"{}", GapCause.NOT_LET_IN), (200, b"[]", GapCause.GARBLED),
])  # fmt: skip
async def test_whatever_the_cluster_says_is_an_outcome(
    status: int, body: bytes, cause: GapCause
) -> None:
    found = await kubernetes(replying(status, body))
    assert isinstance(found, Gap)
    assert found.cause is cause


FACTS = """
- {subject: node-7, control: cis-1.1.1, status: failed, detail: world readable, at: 2026-11-29}
- {subject: node-8, control: cis-1.1.1, status: passed}
"""


async def facts(path: Path, about: str) -> Outcome:
    return await ComplianceFile(path, HandClock()).ask(
        Question(tool="compliance", queries={"about": about}, at=datetime.now(UTC))
    )


async def test_facts_are_found_by_subject_and_by_control(tmp_path: Path) -> None:
    path = tmp_path / "facts.yaml"
    path.write_text(FACTS)
    one, both = await facts(path, "NODE-7"), await facts(path, "cis")
    assert isinstance(one, Answered)
    assert one.lines == ("2026-11-29 node-7: cis-1.1.1 is failed world readable",)
    assert isinstance(both, Answered)
    assert len(both.lines) == 2
    assert isinstance(await facts(path, "node-9"), Empty)


@pytest.mark.parametrize(("content", "cause"), [
    (None, GapCause.UNREACHABLE), ("{a: 1}", GapCause.GARBLED), ("[", GapCause.GARBLED),
])  # fmt: skip
async def test_a_file_that_cannot_be_read_is_a_gap(
    tmp_path: Path, content: str | None, cause: GapCause
) -> None:
    path = tmp_path / "facts.yaml"
    if content is not None:
        path.write_text(content)
    found = await facts(path, "x1")
    assert isinstance(found, Gap)
    assert found.cause is cause
