"""The HTTP face of the door, over the real application and the real database."""

import uuid
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest
from sqlalchemy import text

from bot.backends.clock import SystemClock
from bot.door import Door
from bot.http.api import Api
from bot.http.app import web
from bot.http.sessions import Sessions
from bot.http.webhooks import Webhooks
from bot.telemetry import Telemetry
from engine.intake import Rules
from engine.redact import Redactor
from storage.store import SqlStore, open_store

TOKEN = "t0ken-of-acme-12345"
OTHER = "t0ken-of-bolt-12345"
Json = dict[str, Any]


def door_of(store: SqlStore, telemetry: Telemetry | None = None) -> Door:
    return Door(
        store=store,
        clock=SystemClock(),
        new_id=lambda: uuid.uuid4().hex,
        redactor=Redactor([TOKEN]),
        telemetry=telemetry or Telemetry(),
        rules=lambda _: Rules(),
    )


async def never_missing() -> str | None:
    return None


def client_of(store: SqlStore, telemetry: Telemetry | None = None) -> httpx.AsyncClient:
    kept = telemetry or Telemetry()
    app = web(
        Webhooks(door_of(store, kept), store_s=1.5),
        Api(store),
        Sessions(store, every_s=0.05),
        kept,
        never_missing,
    )
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://caveat")


@pytest.fixture
async def http(store: SqlStore) -> AsyncIterator[httpx.AsyncClient]:
    async with store.begin() as tx:
        for client, token in (("acme", TOKEN), ("bolt", OTHER)):
            await tx.org.declare_client(client, {})
            for kind in ("alertmanager", "changes"):
                await tx.sources.declare(
                    f"{client}:{kind}", client, kind=kind, name=kind, token=token
                )
    async with client_of(store) as opened:
        yield opened


def alert(name: str = "HighErrorRate", **labels: str) -> Json:
    return {
        "status": "firing",
        "labels": {"alertname": name, "severity": "critical", "service": "checkout", **labels},
        "annotations": {"summary": "it fails"},
        # Fresh: what fired long before its source first spoke goes into a digest.
        "startsAt": datetime.now(UTC).replace(microsecond=0).isoformat(),
        "endsAt": "0001-01-01T00:00:00Z",
    }


def body(*alerts: Json) -> Json:
    return {"version": "4", "status": "firing", "groupKey": "{}", "alerts": list(alerts)}


def bearer(token: str = TOKEN) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


async def rows(store: SqlStore, sql: str) -> list[tuple[object, ...]]:
    async with store.begin() as tx:
        return [tuple(row) for row in await tx.session.execute(text(sql))]


async def test_an_alert_is_committed_before_it_is_accepted(
    http: httpx.AsyncClient, store: SqlStore
) -> None:
    reply = await http.post("/webhooks/alertmanager", json=body(alert()), headers=bearer())
    assert (reply.status_code, reply.json()) == (202, {"accepted": 1, "quarantined": 0})
    assert await rows(store, "select client_id, source from alert_events") == [
        ("acme", "alertmanager")
    ]
    queues = await rows(store, "select queue from jobs order by queue")
    assert queues == [("facts",), ("triage",)]


async def test_the_token_may_stand_in_the_path(http: httpx.AsyncClient) -> None:
    reply = await http.post(f"/webhooks/alertmanager/{TOKEN}", json=body(alert()))
    assert reply.status_code == 202


async def test_the_client_comes_from_the_token_and_never_from_the_body(
    http: httpx.AsyncClient, store: SqlStore
) -> None:
    forged = body(alert(client="acme", client_id="acme"))
    reply = await http.post("/webhooks/alertmanager", json=forged, headers=bearer(OTHER))
    assert reply.status_code == 202
    assert await rows(store, "select client_id from incidents") == [("bolt",)]


@pytest.mark.parametrize("headers", [{}, bearer("wrong"), {"Authorization": "Basic x"}])
async def test_an_unknown_sender_is_refused(
    http: httpx.AsyncClient, store: SqlStore, headers: dict[str, str]
) -> None:
    reply = await http.post("/webhooks/alertmanager", json=body(alert()), headers=headers)
    assert reply.status_code == 401
    assert await rows(store, "select 1 from alert_events") == []


async def test_a_token_opens_its_own_kind_of_source_only(
    http: httpx.AsyncClient, store: SqlStore
) -> None:
    async with store.begin() as tx:
        await tx.sources.declare("acme:x", "acme", kind="changes", name="ci", token="ci-token-1")
    reply = await http.post(
        "/webhooks/alertmanager", json=body(alert()), headers=bearer("ci-token-1")
    )
    assert reply.status_code == 401


@pytest.mark.parametrize(
    ("content", "headers", "status"),
    [
        (b"not json", {"Content-Type": "application/json"}, 400),
        (b"{}", {"Content-Type": "application/json"}, 400),
        (b"[" * 90 + b"]" * 90, {"Content-Type": "application/json"}, 400),
        (b"{}", {"Content-Type": "text/plain"}, 415),
        (b"{}", {"Content-Type": "application/json", "Content-Encoding": "gzip"}, 415),
        (b" " * (16 * 1024 * 1024 + 1), {"Content-Type": "application/json"}, 413),
    ],
    ids=["not-json", "no-list", "too-deep", "type", "encoding", "size"],
)
async def test_what_cannot_be_read_gets_its_code(
    http: httpx.AsyncClient, content: bytes, headers: dict[str, str], status: int
) -> None:
    reply = await http.post(
        "/webhooks/alertmanager", content=content, headers={**bearer(), **headers}
    )
    assert reply.status_code == status
    assert reply.json()["error"]


async def test_a_body_nobody_can_read_is_kept_without_its_secrets(
    http: httpx.AsyncClient, store: SqlStore
) -> None:
    broken = f'{{"token": "{TOKEN}", "alerts": '.encode()
    headers = {**bearer(), "Content-Type": "application/json"}
    for _ in range(2):
        reply = await http.post("/webhooks/alertmanager", content=broken, headers=headers)
        assert reply.status_code == 400
    ((source, seen, kept),) = await rows(store, "select source, seen, body from quarantine")
    assert (source, seen) == ("alertmanager", 2)
    assert TOKEN not in str(kept)


async def test_a_bad_alert_never_drops_its_siblings(
    http: httpx.AsyncClient, store: SqlStore
) -> None:
    bad = {"status": "firing", "labels": {}}
    reply = await http.post(
        "/webhooks/alertmanager", json=body(alert("A"), bad, alert("B")), headers=bearer()
    )
    assert reply.json() == {"accepted": 2, "quarantined": 1}
    assert len(await rows(store, "select 1 from alert_events")) == 2
    assert len(await rows(store, "select 1 from quarantine")) == 1


async def test_the_same_post_again_changes_nothing_but_the_count(
    http: httpx.AsyncClient, store: SqlStore
) -> None:
    same = body(alert())
    for _ in range(3):
        await http.post("/webhooks/alertmanager", json=same, headers=bearer())
    assert await rows(store, "select count(*) from alert_events") == [(1,)]
    assert await rows(store, "select count(*) from incidents") == [(1,)]


async def test_secrets_in_an_alert_are_masked_before_they_are_stored(
    http: httpx.AsyncClient, store: SqlStore
) -> None:
    leaking = alert()
    leaking["annotations"] = {"summary": f"curl -H 'Authorization: Bearer {TOKEN}'"}
    await http.post("/webhooks/alertmanager", json=body(leaking), headers=bearer())
    ((stored,),) = await rows(store, "select alert::text from alert_events")
    assert TOKEN not in str(stored)


async def test_a_change_is_kept(http: httpx.AsyncClient, store: SqlStore) -> None:
    change = {
        "kind": "deploy",
        "component": "checkout",
        "what": "v2.41.0",
        "at": "2026-11-30T20:00:00Z",
        "labels": {"service": "checkout"},
    }
    reply = await http.post("/webhooks/changes", json=change, headers=bearer())
    assert reply.status_code == 202
    assert await rows(store, "select client_id, component, what from changes") == [
        ("acme", "checkout", "v2.41.0")
    ]


async def test_what_trips_over_a_fault_of_ours_is_kept_masked_and_asked_for_again(
    http: httpx.AsyncClient, store: SqlStore
) -> None:
    def faulty(_: str) -> Rules:
        raise RuntimeError("a fault of ours")

    door = replace(door_of(store), rules=faulty)
    kept = Telemetry()
    app = web(
        Webhooks(door, store_s=1.5), Api(store), Sessions(store, every_s=0.05), kept, never_missing
    )
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://caveat") as broken:
        said = body(alert(leaked=TOKEN))
        reply = await broken.post("/webhooks/alertmanager", json=said, headers=bearer())
    assert (reply.status_code, reply.headers["retry-after"]) == (503, "5")
    ((source, reason, text_),) = await rows(store, "select source, reason, body from quarantine")
    assert (source, reason) == ("alertmanager", "could not be filed; see the log")
    assert "HighErrorRate" in str(text_)
    assert TOKEN not in str(text_)
    assert await rows(store, "select 1 from alert_events") == []


async def test_an_unknown_source_is_told_the_known_ones(http: httpx.AsyncClient) -> None:
    reply = await http.post("/webhooks/carrier-pigeon", json={}, headers=bearer())
    assert reply.status_code == 404
    assert "alertmanager" in reply.json()["error"]


async def test_a_database_that_is_down_is_503_and_never_4xx() -> None:
    gone = open_store("postgresql+psycopg://nobody@127.0.0.1:1/none")
    async with client_of(gone) as http:
        reply = await http.post("/webhooks/alertmanager", json=body(alert()), headers=bearer())
    assert reply.status_code == 503
    assert reply.headers["retry-after"]
    await gone.close()


async def test_health_and_metrics_answer(store: SqlStore, http: httpx.AsyncClient) -> None:
    await http.post("/webhooks/alertmanager", json=body(alert()), headers=bearer("wrong"))
    assert (await http.get("/healthz")).text == "ok"
    assert (await http.get("/readyz")).status_code == 200
    exposed = (await http.get("/metrics")).text
    assert (
        'caveat_alerts_received_total{result="unauthorised",source="alertmanager",'
        'status="unknown"} 1.0' in exposed
    )
    assert 'caveat_triage_trust_total{trust_level="verified"} 0.0' in exposed
