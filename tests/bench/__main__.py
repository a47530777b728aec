"""`make bench`: measures everything in one run and writes docs/measured.md.

Loopback only; every process it starts ends with it.
"""

import asyncio
import os
import platform
import sys
import time
from pathlib import Path

from tests.bench import cards, intake, start, tokens, triage
from tests.bench.figures import Section

PAGE = Path(__file__).resolve().parents[2] / "docs" / "measured.md"
LONGEST_S = 600


PARTS = (triage, start, intake, cards, tokens)


async def measured() -> list[Section]:
    """Measure part by part, showing each as soon as it is known."""
    found: list[Section] = []
    async with asyncio.timeout(LONGEST_S):
        for part in PARTS:
            sections = await part.measure()
            found += sections
            for section in sections:
                sys.stdout.write(section.markdown() + "\n\n")
                sys.stdout.flush()
    return found


def main() -> None:
    before, begun = os.getloadavg()[0], time.perf_counter()
    sections = asyncio.run(measured())
    took_s = time.perf_counter() - begun
    machine = f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}"
    head = (
        "# Measured\n\n"
        "Written by `make bench` (`python -m tests.bench`): one run of a real `caveat serve` with"
        " its own PostgreSQL, between doubles on loopback.\n\n"
        f"Machine: {machine}; load before the run {before:.1f}; the run took {took_s:.0f} s.\n\n"
    )
    text = head + "\n\n".join(section.markdown() for section in sections) + "\n"
    PAGE.write_text(text)


if __name__ == "__main__":
    main()
