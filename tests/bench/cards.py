"""How soon a card stands, and what the process holds in memory meanwhile."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from bot.drill.doubles.prometheus import MetricsDouble
from bot.drill.doubles.serve import serve
from tests.bench.figures import Section, ms
from tests.bench.memory import below, proportional_mb, resident_mb
from tests.bench.plant import TEAMS, Plant, alert, home, now, plant, room_of

INCIDENTS = 20
TRIAGES = 10
HANGING = 5
APART = {"storm_alerts": 1000, "settle_s": 15}
"""These incidents come one after another and are no storm; triage waits until all stand."""


async def measure() -> list[Section]:
    cards, memory = Section("Cards"), Section("Memory")
    with home() as folder:
        await _usual(folder, cards, memory)
    with home() as folder:
        await _hanging(folder, cards)
    return [cards, memory]


async def _usual(folder: Path, cards: Section, memory: Section) -> None:
    async with (
        serve(MetricsDouble(now).app) as url,
        plant(folder, model=True, prometheus={"url": url}, correlation=APART) as one,
    ):
        pid = one.process.pid
        memory.add("process after start", f"{resident_mb(pid):.0f} MB", "RSS", "220 MB")
        took = [await _card(one, n) for n in range(INCIDENTS)]
        cards.add("webhook → facts card", ms(took), f"{INCIDENTS} incidents in turn", "2 s")
        await one.judged(2 * TRIAGES)
        run = f"RSS, {INCIDENTS} incidents and {len(one.model.accepted)} model calls later"
        memory.add("process after triages", f"{resident_mb(pid):.0f} MB", run, "220 MB")
        servers = below(pid)
        shared = f"PSS, {len(servers)} processes"
        memory.add("its PostgreSQL", f"{proportional_mb(servers):.0f} MB", shared)


async def _hanging(folder: Path, cards: Section) -> None:
    async with (
        _silent() as url,
        plant(folder, prometheus={"url": url}, correlation=APART) as one,
    ):
        took = [await _card(one, n) for n in range(HANGING)]
    run = f"{HANGING} incidents; a Prometheus that accepts and never answers"
    cards.add("webhook → facts card, metrics hang", f"at most {max(took):.2f} s", run, "2 s")


async def _card(one: Plant, n: int) -> float:
    """Seconds from the post to the card in the room."""
    team = TEAMS[n % len(TEAMS)]
    before = len(one.slack.cards(room_of(team)))
    labels = {"service": f"svc-{n}", "namespace": f"ns-{n}", "team": team}
    begun = time.perf_counter()
    posting = asyncio.create_task(one.post([alert("HighErrorRate", **labels)]))
    await one.carded(team, before)
    took_s = time.perf_counter() - begun
    await posting
    return took_s


@asynccontextmanager
async def _silent() -> AsyncIterator[str]:
    """A server that accepts connections, reads and never says a word."""

    async def listen(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while await reader.read(65_536):
            pass
        writer.close()

    server = await asyncio.start_server(listen, "127.0.0.1", 0)
    host, port = server.sockets[0].getsockname()[:2]
    try:
        yield f"http://{host}:{port}"
    finally:
        server.close()
