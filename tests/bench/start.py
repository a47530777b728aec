"""How long starting takes."""

import asyncio
import time
from pathlib import Path

from tests.bench.figures import Section, at
from tests.bench.plant import CAVEAT, home, plant

HELPS = 5


async def measure() -> list[Section]:
    section = Section("Start")
    helps = [await _help() for _ in range(HELPS)]
    section.add(
        "`caveat --help`",
        f"{at(0.5, helps):.2f} s",
        f"median of {HELPS}, a new process each",
        "1.5 s",
    )
    with home() as folder:
        cold, warm = await _ready(folder), await _ready(folder)
    section.add("`caveat serve` → ready, first start", f"{cold:.1f} s", "makes its database")
    section.add("`caveat serve` → ready, later", f"{warm:.1f} s", "the same state folder", "5 s")
    return [section]


async def _help() -> float:
    begun = time.perf_counter()
    process = await asyncio.create_subprocess_exec(
        CAVEAT, "--help", stdout=asyncio.subprocess.DEVNULL
    )
    async with asyncio.timeout(30):
        await process.wait()
    return time.perf_counter() - begun


async def _ready(folder: Path) -> float:
    begun = time.perf_counter()
    async with plant(folder):
        return time.perf_counter() - begun
