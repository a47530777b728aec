"""What the model is asked and what it costs, on the sample alert and on a storm of one cause."""

import asyncio
import tempfile
from pathlib import Path

import httpx

from bot.drill.doubles.anthropic import Asked
from bot.drill.doubles.anthropic_replies import Message
from bot.drill.doubles.prompt_cache import count_tokens
from tests.bench.figures import Section
from tests.bench.plant import Json, alert, home, plant
from tests.conftest import SHARED
from tests.real_prometheus import installed, sample_shop

RULE = "CheckoutHighErrorRate"
STORM = 10


async def measure() -> list[Section]:
    section = Section("Model")
    sample = SHARED / "sample"
    if not installed() or not sample.is_dir():
        section.add("sample alert", "not run", "needs Debian's Prometheus and ../shared/sample")
        return [section]
    with tempfile.TemporaryDirectory() as folder:
        shop = sample_shop(Path(folder), sample, firing=RULE)
        here = await asyncio.to_thread(shop.__enter__)
        try:
            await _sample(section, here.prometheus_url)
            await _storm(section, here.prometheus_url)
        finally:
            await asyncio.to_thread(shop.__exit__, None, None, None)
    return [section]


async def _sample(section: Section, url: str) -> None:
    calls = await _calls(url, [await _firing(url)])
    given = [c.charge for c in calls if c.charge]
    plain, read = sum(c.plain for c in given), sum(c.read for c in given)
    written = sum(c.written_5m + c.written_1h for c in given)
    said = sum(map(_said, calls))
    whole = plain + read + written + said
    run = "sample alert, real Prometheus, rehearsal model, tokens estimated"
    section.add("calls, one alert", f"{len(calls)}", run, "3")
    section.add(
        "tokens, one alert",
        f"{whole:,}: {plain:,} in, {written:,} to and {read:,} from the cache, {said:,} out",
        f"{run}; a comparable open-source agent sent 78,800 input tokens in five calls",
        "20,000",
    )


async def _storm(section: Section, url: str) -> None:
    alerts = [
        alert(f"Checkout{n}", namespace="shop", service="checkout-api", pod=f"checkout-api-{n % 6}")
        for n in range(STORM)
    ]
    calls = await _calls(url, alerts)
    run = f"{STORM} alerts of one cause, posted one by one"
    section.add("calls, a storm of ten", f"{len(calls)}", run, "3")


async def _calls(url: str, alerts: list[Json]) -> list[Asked]:
    quick = {"settle_s": 2}
    with home() as folder:
        async with plant(folder, model=True, prometheus={"url": url}, correlation=quick) as one:
            for each in alerts:
                await one.post([each])
            await one.judged(1)
            return one.model.accepted


async def _firing(url: str) -> Json:
    async with httpx.AsyncClient(trust_env=False) as http:
        rows = (await http.get(f"{url}/api/v1/alerts")).json()["data"]["alerts"]
    row = next(r for r in rows if r["labels"]["alertname"] == RULE)
    own = {"labels": row["labels"], "annotations": row["annotations"], "startsAt": row["activeAt"]}
    return alert(RULE) | own


def _said(call: Asked) -> int:
    if not isinstance(call.reply, Message):
        return 0
    return sum(map(count_tokens, call.reply.content))
