"""The poller between a real database and an Alertmanager that answers, errs, or says odd things."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import text
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from bot.backends.clock import SystemClock
from bot.backends.of_client import Backends, connect
from bot.config import ClientSettings
from bot.drill.doubles.serve import serve
from bot.poller import Poller
from storage.store import SqlStore
from tests.bot.http.test_webhooks import door_of

SOURCE = "acme:alertmanager"


class Alertmanager:
    """What it would say now."""

    def __init__(self) -> None:
        self.rows: Any = []
        self.status = 200
        self.app = Starlette(
            routes=[Route("/api/v2/alerts", self._alerts), Route("/api/v2/status", self._status)]
        )

    async def _alerts(self, _: Request) -> Response:
        return JSONResponse(self.rows, self.status)

    async def _status(self, _: Request) -> Response:
        return JSONResponse({"uptime": (datetime.now(UTC) - timedelta(days=9)).isoformat()})


def row(name: str = "HighErrorRate", **changes: Any) -> dict[str, Any]:
    fired = {
        "labels": {"alertname": name, "severity": "critical", "service": "checkout"},
        "annotations": {},
        "startsAt": datetime.now(UTC).isoformat(),
        "endsAt": (datetime.now(UTC) + timedelta(minutes=4)).isoformat(),
        "fingerprint": "0" * 16,
        "status": {"state": "active", "inhibitedBy": [], "silencedBy": []},
    }
    return {**fired, **changes}


async def declared(store: SqlStore) -> None:
    async with store.begin() as tx:
        await tx.org.declare_client("acme", {})
        await tx.sources.declare(
            SOURCE, "acme", kind="alertmanager", name="alertmanager", token=None
        )
        await tx.sources.seen(SOURCE, datetime.now(UTC) - timedelta(days=9), polled=True)


async def held(store: SqlStore) -> list[str]:
    async with store.begin() as tx:
        asked = text("select labels->>'alertname' from alert_events order by 1")
        return list((await tx.session.execute(asked)).scalars())


def backends_of(url: str) -> Backends:
    own = ClientSettings.model_validate({"alertmanager": {"url": url}})
    return connect(own, SystemClock(), "alertmanager")


async def test_what_fires_is_filed_without_a_webhook(store: SqlStore) -> None:
    await declared(store)
    there = Alertmanager()
    there.rows = [row()]
    async with serve(there.app) as url:
        await Poller(SOURCE, backends_of(url), door_of(store), SystemClock()).once()
    assert await held(store) == ["HighErrorRate"]


@pytest.mark.parametrize(
    "odd", [{"status": 500}, {"rows": {"not": "a list"}}, {"rows": ["not", "alerts"]}]
)
async def test_an_answer_of_no_use_files_nothing_and_is_asked_again(
    store: SqlStore, odd: dict[str, Any]
) -> None:
    await declared(store)
    there = Alertmanager()
    for name, value in odd.items():
        setattr(there, name, value)
    async with serve(there.app) as url:
        poller = Poller(SOURCE, backends_of(url), door_of(store), SystemClock())
        await poller.once()
        assert await held(store) == []
        there.status, there.rows = 200, [row()]
        await poller.once()
    assert await held(store) == ["HighErrorRate"]


async def test_a_bad_alert_never_drops_its_siblings(store: SqlStore) -> None:
    await declared(store)
    there = Alertmanager()
    there.rows = [row(labels="none"), row(startsAt="soon"), row("Sibling")]
    async with serve(there.app) as url:
        await Poller(SOURCE, backends_of(url), door_of(store), SystemClock()).once()
    assert "Sibling" in await held(store)


async def test_a_poll_that_trips_over_a_fault_of_ours_does_not_end_the_polls(
    store: SqlStore, caplog: pytest.LogCaptureFixture
) -> None:
    """The source is not declared yet: the first polls fail, a later one files."""
    there = Alertmanager()
    there.rows = [row()]
    async with serve(there.app) as url:
        backends = replace(backends_of(url), poll_s=0.05)
        poller = Poller(SOURCE, backends, door_of(store), SystemClock())
        task = asyncio.create_task(poller.run())
        async with asyncio.timeout(10):
            while "a poll of acme:alertmanager failed" not in caplog.text:
                await asyncio.sleep(0.01)
            await declared(store)
            while await held(store) != ["HighErrorRate"]:
                await asyncio.sleep(0.02)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
