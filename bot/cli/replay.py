"""`caveat replay`: what an investigation did, step by step, from the record alone."""

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from engine.model.event import Step


def replay(triage_id: str, config: Path | None) -> None:
    """Print every step of a session; nothing is asked of anyone."""
    from bot.cli.errors import CommandError
    from bot.cli.opened import opened

    async def run() -> "Sequence[Step]":
        async with opened(config) as tx:
            steps = await tx.steps.of_triage(triage_id)
            if not steps:  # a person may know the incident only
                newest = await tx.steps.newest_of(triage_id, None)
                steps = await tx.steps.of_triage(newest) if newest else []
            return steps

    if not triage_id.isprintable():
        raise CommandError("no triage has such an id")
    steps = asyncio.run(run())
    if not steps:
        raise CommandError(f"no session of {triage_id}: give the id of a triage or of an incident")
    print("\n".join(lines(steps)))


def lines(steps: "Sequence[Step]") -> Iterator[str]:
    """One line a step: seconds since the first, what happened, its facts."""
    first = steps[0]
    yield f"triage {first.triage_id}, {first.at:%Y-%m-%d %H:%M:%S}Z"
    for step in steps:
        told = " ".join(f"{name}={_said(value)}" for name, value in sorted(step.facts.items()))
        yield f"{(step.at - first.at).total_seconds():8.2f} s  {step.kind:<12} {told}".rstrip()


def _said(value: str | float | None) -> str:
    if value is None:
        return "-"
    text = f"{value:.4g}" if isinstance(value, float) else str(value)
    return text if text and text.isprintable() and " " not in text else repr(text)
