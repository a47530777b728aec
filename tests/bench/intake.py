"""How fast alerts are taken, over HTTP, into a real process and a PostgreSQL on disk."""

import asyncio
import itertools
import time
from collections.abc import Iterator

from tests.bench.figures import Section, ms
from tests.bench.plant import Json, Plant, alert, home, plant

SINGLES = 300
POSTS, EACH = 200, 50
MINUTE_S = 60.0
BIG = 10_000


async def measure() -> list[Section]:
    section = Section("Intake")
    numbers = itertools.count()
    with home() as folder:
        async with plant(folder) as one:
            await _singles(section, one, numbers)
    with home() as folder:
        async with plant(folder) as one:
            await _posts(section, one, numbers)
    with home() as folder:
        async with plant(folder) as one:
            took_s = await one.post(list(itertools.islice(_distinct(numbers), BIG)), 120)
    section.add("10,000 alerts in one body", f"{took_s:.1f} s", "one post", "20 s")
    return [section]


async def _singles(section: Section, one: Plant, numbers: Iterator[int]) -> None:
    for senders in (1, 8):
        bodies = [[next(_distinct(numbers))] for _ in range(SINGLES)]
        took, whole_s = await _posted(one, bodies, senders)
        run = f"{SINGLES} posts of one alert each, connections: {senders}"
        section.add("webhook → commit", f"{ms(took)}, {SINGLES / whole_s:,.0f} alerts/s", run)


async def _posts(section: Section, one: Plant, numbers: Iterator[int]) -> None:
    """Posts that come evenly over a minute, whether the one before was answered or not."""
    bodies = [list(itertools.islice(_distinct(numbers), EACH)) for _ in range(POSTS)]
    begun = time.perf_counter()

    async def send(n: int, alerts: list[Json]) -> float:
        await asyncio.sleep(MINUTE_S * n / POSTS)
        return await one.post(alerts)

    took = await asyncio.gather(*(send(n, alerts) for n, alerts in enumerate(bodies)))
    whole_s = time.perf_counter() - begun
    run = f"{POSTS} posts of {EACH} distinct alerts, one every {MINUTE_S / POSTS:.1f} s"
    section.add("10,000 alerts in a minute", f"all acknowledged after {whole_s:.1f} s", run)
    again = f", {one.sent_again} sent again after a 503"
    section.add("their acknowledgement", ms(took) + again, run, "p99 500 ms")


def _distinct(numbers: Iterator[int]) -> Iterator[Json]:
    """Alerts of twenty rules over ever new services, namespaces and hosts."""
    for n in numbers:
        yield alert(
            f"Rule{n % 20}",
            namespace=f"ns-{n % 40}",
            service=f"svc-{n}",
            instance=f"10.0.{n // 250 % 250}.{n % 250}:9100",
        )


async def _posted(one: Plant, bodies: list[list[Json]], senders: int) -> tuple[list[float], float]:
    """Post bodies over some connections at once; seconds of each, and of all."""
    waiting = iter(bodies)
    took: list[float] = []

    async def send() -> None:
        for alerts in waiting:
            seconds = await one.post(alerts)
            took.append(seconds)

    begun = time.perf_counter()
    await asyncio.gather(*(send() for _ in range(senders)))
    return took, time.perf_counter() - begun
