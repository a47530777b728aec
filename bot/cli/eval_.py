"""`caveat eval`: how good the findings are, measured."""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bot.cli.eval_live import live

if TYPE_CHECKING:
    from engine.model.review import Label
    from storage.store import SqlTx

app = typer.Typer(no_args_is_help=True, help="How good the findings are.")
Config = Annotated[Path | None, typer.Option("--config", "-c", help="caveat.yaml")]


def calibration(config: Config = None) -> None:
    """Say per model whether its confidence can be believed, from the verdicts people gave."""
    from bot.cli.opened import opened

    async def run() -> list[str]:
        async with opened(config) as tx:
            return await measured(tx)

    print("\n".join(asyncio.run(run())))


SUBCOMMANDS: dict[str, Callable[..., None]] = {"calibration": calibration, "live": live}
"""Every kind of measurement; one more is one more line."""
for name, command in SUBCOMMANDS.items():
    app.command(name)(command)


@app.callback()
def _group() -> None:
    """Keep it a group, however few there are."""


async def measured(tx: "SqlTx") -> list[str]:
    """One paragraph a model."""
    told = [
        line
        for model in await tx.outcomes.models()
        for line in lines(model, await tx.outcomes.labels(model))
    ]
    return told or ["no verdict was given yet; `caveat verdict` gives one"]


def lines(model: str, labels: Sequence["Label"]) -> list[str]:
    """What is known of one model's numbers."""
    from engine.calibration import LEAST_LABELS, pooled, quality

    kinds = {
        "said by the model": [(label.said, label.held) for label in labels],
        "shown on cards": [(label.shown, label.held) for label in labels],
    }
    told = [f"{model}: {len(labels)} labels"]
    for kind, pairs in kinds.items():
        found = quality(pairs)
        told.append(f"  {kind:18}  Brier {_figure(found.brier)}  ECE {_figure(found.ece)}")
    if len(labels) < LEAST_LABELS:
        return [*told, f"  map: none before {LEAST_LABELS} labels; numbers are shown as they are"]
    knots = pooled(kinds["said by the model"])
    steps = ", ".join(f"{k.least:.2f}-{k.most:.2f} → {k.share:.2f} ({k.weight})" for k in knots)
    return [*told, f"  map: {steps}"]


def _figure(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
