"""A real Alertmanager says the same alert twice: by webhook and when asked."""

import asyncio
import json
import shutil
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest
from aiohttp import web

from bot.sources.alertmanager import SOURCE
from bot.sources.prometheus_alerts import Polled, from_alertmanager

BINARY = shutil.which("prometheus-alertmanager") or shutil.which("alertmanager")
pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif(BINARY is None, reason="no Alertmanager on this machine"),
]
CONFIG = """
route: {{receiver: hook, group_by: ['...'], group_wait: 0s}}
receivers: [{{name: hook, webhook_configs: [{{url: 'http://127.0.0.1:{port}/'}}]}}]
"""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@asynccontextmanager
async def receiver() -> AsyncIterator[tuple[int, asyncio.Queue[bytes]]]:
    bodies: asyncio.Queue[bytes] = asyncio.Queue()

    async def keep(request: web.Request) -> web.Response:
        bodies.put_nowait(await request.read())
        return web.Response()

    app = web.Application()
    app.router.add_post("/", keep)
    runner = web.AppRunner(app)
    await runner.setup()
    port = free_port()
    await web.TCPSite(runner, "127.0.0.1", port).start()
    yield port, bodies
    await runner.cleanup()


@asynccontextmanager
async def alertmanager(folder: Path, hook: int) -> AsyncIterator[httpx.AsyncClient]:
    config = folder / "am.yml"
    config.write_text(CONFIG.format(port=hook))
    port = free_port()
    process = await asyncio.create_subprocess_exec(
        str(BINARY),
        f"--config.file={config}",
        f"--storage.path={folder / 'am'}",
        f"--web.listen-address=127.0.0.1:{port}",
        "--cluster.listen-address=",
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", trust_env=False) as http:
            await until_ready(http)
            yield http
    finally:
        process.kill()
        await process.wait()


async def until_ready(http: httpx.AsyncClient) -> None:
    async with asyncio.timeout(20):
        while True:
            try:
                (await http.get("/-/ready")).raise_for_status()
            except httpx.HTTPError:
                await asyncio.sleep(0.05)
            else:
                return


async def test_one_alert_is_one_event_whichever_way_it_comes(tmp_path: Path) -> None:
    labels = {"alertname": "HighErrorRate", "service": "checkout", "severity": "critical"}
    start = "2026-01-30T19:49:02.372693123Z"
    async with receiver() as (hook, bodies), alertmanager(tmp_path, hook) as http:
        await http.post("/api/v2/alerts", json=[{"labels": labels, "startsAt": start}])
        body = await asyncio.wait_for(bodies.get(), 20)
        rows = (await http.get("/api/v2/alerts")).json()
    now = datetime.now(UTC)
    sent = SOURCE.parse(body, now).alerts[0]
    held = from_alertmanager(rows[0], now, SOURCE.name)
    assert isinstance(held, Polled)
    assert json.loads(body)["alerts"][0]["startsAt"] == start
    assert (held.alert.source, held.alert.fingerprint) == (sent.source, sent.fingerprint)
    assert held.alert.starts_at == sent.starts_at
