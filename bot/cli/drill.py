"""`caveat drill`: the whole life of a card, rehearsed through the real path."""

import asyncio
from pathlib import Path

from rich.console import Console

from bot.config import load
from bot.drill.run import Told, rehearse
from bot.drill.table import SCENARIOS
from bot.logs import set_up_logs
from engine.model.run import CaseFile
from engine.redact import Redactor

HOME = Path(".caveat")


def drill(name: str, config: Path | None, *, home: Path = HOME) -> None:
    """Rehearse one failure, or all of them, and say what it took."""
    settings = load(config)
    set_up_logs(Redactor(settings.secrets), level="WARNING")
    console = Console()
    chosen = list(SCENARIOS.values()) if name == "all" else [SCENARIOS[name]]
    for scenario in chosen:
        console.rule(f"[bold]drill[/bold] · {scenario.name}")
        console.print(f"{scenario.about}.")
        told = asyncio.run(rehearse(scenario, settings, home, console))
        for line in summary(told):
            console.print(line)


def summary(told: Told) -> list[str]:
    """What a rehearsal took, and which of its parts were not real."""
    judged = [case for case in told.cases if case.receipt is not None]
    calls = sum(case.receipt.calls for case in judged if case.receipt)
    alerts = sum(len(case.incident.members) for case in told.cases)
    return [
        "",
        f"[bold]{alerts} alert(s), {_cards(told.cases)}, {calls} model call(s)[/bold]",
        f"facts card after {told.facts_s or 0:.1f} s, finding after {told.finding_s or 0:.1f} s",
        *_rehearsed(told),
    ]


def _cards(cases: list[CaseFile]) -> str:
    merged = sum(case.merged_number is not None for case in cases)
    live = len(cases) - merged
    return f"{live} card(s)" + (f" and {merged} merged into it" if merged else "")


def _rehearsed(told: Told) -> list[str]:
    parts = [
        word
        for word, is_rehearsed in (
            ("the metrics server", told.rehearsal_metrics),
            ("the model", told.rehearsal_model),
        )
        if is_rehearsed
    ]
    if not parts:
        return []
    return [f"[dim]{' and '.join(parts)} stood in for real ones; everything else was real[/dim]"]
