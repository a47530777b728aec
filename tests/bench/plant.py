"""A real `caveat serve` process with its own PostgreSQL, between doubles in this process."""

import asyncio
import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import yaml

from bot.drill.doubles.anthropic import MessagesDouble
from bot.drill.doubles.serve import serve
from bot.drill.doubles.slack import SlackDouble
from bot.drill.rehearsal_model import answer
from tests.real_prometheus import free_port

Json = dict[str, Any]
CAVEAT = Path(sys.executable).with_name("caveat")
TOKEN = "sender-token-0123456789"
TEAMS = ("a", "b", "c", "d")
READY_S = 60.0
PATIENCE_S = 60.0
STOP_S = 40.0
SECRETS = {
    "CAVEAT_WEBHOOK_TOKEN": TOKEN,
    "CAVEAT_SLACK_BOT_TOKEN": "xoxb-rehearsal",
}


def now() -> datetime:
    return datetime.now(UTC)


def room_of(team: str) -> str:
    return f"C0{team.upper()}"


def alert(rule: str, *, ago_s: float = 5, **labels: str) -> Json:
    return {
        "status": "firing",
        "labels": {"alertname": rule, "severity": "critical", **labels},
        "annotations": {
            "summary": f"{rule} on {labels.get('service', 'something')}",
            "description": "More than 10% of requests fail with 5xx for 5 minutes.",
            "runbook_url": "https://runbooks.example.test/5xx",
        },
        "startsAt": (now() - timedelta(seconds=ago_s)).isoformat(),
        "endsAt": "0001-01-01T00:00:00Z",
        "generatorURL": "http://prometheus.example.test/graph?g0.expr=up",
    }


def body(alerts: list[Json]) -> Json:
    return {"version": "4", "groupKey": "{}", "truncatedAlerts": 0, "alerts": alerts}


async def until(seen: Callable[[], bool], every_s: float) -> None:
    """Look again and again, for a minute at most."""
    async with asyncio.timeout(PATIENCE_S):
        while not seen():
            await asyncio.sleep(every_s)


@dataclass
class Plant:
    """The process, its doubles and a client for its webhook."""

    home: Path
    port: int
    slack: SlackDouble
    model: MessagesDouble
    process: asyncio.subprocess.Process
    http: httpx.AsyncClient
    sent_again: int = 0
    """Posts that were told 503 and sent once more, as every sender does."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def post(self, alerts: list[Json], timeout_s: float = 30) -> float:
        """Post a notification; gives the seconds until it was acknowledged, thus committed."""
        begun = time.perf_counter()
        while (status := await self._status(alerts, timeout_s)) == 503:
            self.sent_again += 1
            await asyncio.sleep(0.5)
        assert status == 202, status
        return time.perf_counter() - begun

    async def _status(self, alerts: list[Json], timeout_s: float) -> int:
        reply = await self.http.post(
            f"{self.url}/webhooks/alertmanager", json=body(alerts), timeout=timeout_s
        )
        return reply.status_code

    async def carded(self, team: str, before: int) -> None:
        """Wait until a room has more cards than `before`."""
        await until(lambda: len(self.slack.cards(room_of(team))) > before, 0.005)

    async def judged(self, calls: int) -> None:
        """Wait until the model was called this often and then no more for three seconds."""
        await until(lambda: len(self.model.accepted) >= calls, 0.1)
        seen = -1
        while seen != len(self.model.accepted):
            seen = len(self.model.accepted)
            await asyncio.sleep(3)

    async def ready(self) -> None:
        """Wait until the process says that it takes alerts."""
        async with asyncio.timeout(READY_S):
            while not await self._is_ready():
                assert self.process.returncode is None, (self.home / "log").read_text()[-2000:]
                await asyncio.sleep(0.02)

    async def _is_ready(self) -> bool:
        try:
            return (await self.http.get(f"{self.url}/readyz", timeout=1)).status_code == 200
        except httpx.HTTPError:
            return False


@contextmanager
def home() -> Iterator[Path]:
    """A state folder on disk, open to the user that root's PostgreSQL drops to."""
    folder = Path(tempfile.mkdtemp(prefix="caveat-bench-"))
    folder.chmod(0o711)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@asynccontextmanager
async def plant(folder: Path, *, model: bool = False, **settings: Any) -> AsyncIterator[Plant]:
    """Start the process; it has ended when this is left."""
    slack, messages = SlackDouble(now), MessagesDouble(now, answer)
    for team in TEAMS:
        slack.channel(room_of(team))
    async with (
        serve(slack.app) as slack_url,
        serve(messages.app) as model_url,
        httpx.AsyncClient(trust_env=False, headers={"Authorization": f"Bearer {TOKEN}"}) as http,
    ):
        port = free_port()
        own = {
            "home": str(folder),
            "http": {"port": port},
            "ai_triage": model,
            "rooms": [
                *({"slack": room_of(t), "match": {"team": t}} for t in TEAMS[1:]),
                {"slack": room_of(TEAMS[0])},
            ],
            "slack": {"base_url": f"{slack_url}/api/"},
            "model": {"base_url": model_url, "rehearsal": True},
            **settings,
        }
        secrets = SECRETS | ({"CAVEAT_MODEL_API_KEY": "sk-rehearsal"} if model else {})
        (folder / "caveat.yaml").write_text(yaml.safe_dump(own))
        async with _process(folder, secrets) as process:
            made = Plant(folder, port, slack, messages, process, http)
            await made.ready()
            yield made


@asynccontextmanager
async def _process(
    folder: Path, secrets: dict[str, str]
) -> AsyncIterator[asyncio.subprocess.Process]:
    plain = {k: v for k, v in os.environ.items() if not k.startswith("CAVEAT_")}
    with (folder / "log").open("ab") as log:
        process = await asyncio.create_subprocess_exec(
            CAVEAT, "serve", "--config", folder / "caveat.yaml",
            cwd=folder, env=plain | secrets, stdout=log, stderr=log, start_new_session=True,
        )  # fmt: skip
    try:
        yield process
    finally:
        if process.returncode is None:
            process.send_signal(signal.SIGTERM)
            try:
                await asyncio.wait_for(process.wait(), STOP_S)
            except TimeoutError:
                process.kill()
                await process.wait()
