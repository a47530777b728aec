"""Sessions over the real application and database: at once, as they happen, and replayed."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from bot.cli.replay import lines
from engine.model.event import EventFacts, SessionEvent
from engine.model.run import Run, RunState
from storage.store import SqlStore
from tests.bot.http import test_api
from tests.bot.http.test_api import ACME, BOLT, EVERY, WRITER, hold
from tests.engine.judged import a_run

http = test_api.http
PATH = "/api/v1/incidents/inc1/session"
STEPS: list[tuple[SessionEvent, EventFacts]] = [
    (SessionEvent.PACK, {"sections": "", "hash": "abc"}),
    (SessionEvent.CALL, {"call": "conclude", "cost_usd": 0.01, "request_id": None}),
    (SessionEvent.STAMP, {"trust_level": "unconfirmed", "confidence": 0.625}),
]


async def begun(store: SqlStore, **changes: Any) -> Run:
    await hold(store, "inc1", "g1")
    run = a_run(**changes)
    async with store.begin() as tx:
        await tx.runs.add(run)
    return run


async def told(store: SqlStore, run: Run, *steps: tuple[SessionEvent, EventFacts]) -> None:
    async with store.begin() as tx:
        for kind, facts in steps:
            await tx.steps.append(run, kind, facts)


async def ended(store: SqlStore, run: Run) -> None:
    async with store.begin() as tx:
        await tx.runs.save(run.model_copy(update={"state": RunState.DONE}))


def bearer(secret: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {secret}"}


async def events(reply: httpx.Response) -> AsyncIterator[dict[str, str]]:
    found: dict[str, str] = {}
    async for line in reply.aiter_lines():
        name, _, value = line.partition(": ")
        if line and name:
            found[name] = value
        elif not line and found:
            yield found
            found = {}


@pytest.mark.proves("S3-137")
async def test_a_session_is_told_in_the_order_it_happened(
    store: SqlStore, http: httpx.AsyncClient
) -> None:
    run = await begun(store)
    await told(store, run, *STEPS)
    reply = await http.get(PATH, headers=bearer(ACME))
    said = reply.json()
    assert (reply.status_code, said["triage_id"], said["over"]) == (200, "t1", False)
    assert [(s["kind"], s["facts"]) for s in said["steps"]] == STEPS
    await ended(store, run)
    assert (await http.get(PATH, headers=bearer(EVERY))).json()["over"]


@pytest.mark.proves("S3-138")
async def test_a_stream_tells_steps_as_they_happen_and_ends_with_the_session(
    store: SqlStore, http: httpx.AsyncClient
) -> None:
    run = await begun(store)
    await told(store, run, STEPS[0])

    async def go_on() -> None:
        await told(store, run, STEPS[1])
        await ended(store, run)
        await told(store, run, STEPS[2])

    seen: list[dict[str, str]] = []
    async with asyncio.TaskGroup() as group:
        group.create_task(go_on())
        async with http.stream("GET", f"{PATH}/stream", headers=bearer(ACME)) as reply:
            assert reply.headers["content-type"].startswith("text/event-stream")
            seen = [one async for one in events(reply) if "event" in one]
    assert [one["event"] for one in seen] == ["pack", "call", "stamp", "over"]
    assert json.loads(seen[0]["data"])["facts"] == STEPS[0][1]
    later = {"Last-Event-ID": seen[0]["id"], **bearer(ACME)}
    async with http.stream("GET", f"{PATH}/stream", headers=later) as reply:
        again = [one["event"] async for one in events(reply) if "event" in one]
    assert again == ["call", "stamp", "over"]


@pytest.mark.parametrize(
    ("secret", "status"), [(BOLT, 404), (WRITER, 403), ("nobody", 401), ("", 401)]
)
@pytest.mark.parametrize("path", [PATH, f"{PATH}/stream"])
async def test_a_session_is_told_to_those_only_who_may_read_its_client(
    store: SqlStore, http: httpx.AsyncClient, secret: str, status: int, path: str
) -> None:
    run = await begun(store)
    await told(store, run, *STEPS)
    reply = await http.get(path, headers=bearer(secret))
    assert reply.status_code == status
    assert "pack" not in reply.text
    unknown = await http.get(path.replace("inc1", "inc9"), headers=bearer(BOLT))
    assert unknown.status_code == 404
    odd = await http.get(path.replace("inc1", "%00"), headers=bearer(BOLT))
    assert odd.status_code == 404


async def test_a_session_is_replayed_from_its_record(store: SqlStore) -> None:
    run = await begun(store)
    await told(store, run, *STEPS)
    async with store.begin() as tx:
        steps = await tx.steps.of_triage("t1")
        assert await tx.steps.newest_of("inc1", None) == "t1"
        assert await tx.steps.newest_of("inc1", "bolt") is None
    printed = [*lines(steps)]
    assert printed[0].startswith("triage t1, ")
    assert printed[1].endswith("s  pack         hash=abc sections=''")
    assert printed[2].endswith("call         call=conclude cost_usd=0.01 request_id=-")
    assert printed[3].endswith("stamp        confidence=0.625 trust_level=unconfirmed")
