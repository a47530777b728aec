"""`caveat eval`: how good the findings are, measured."""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from bot.config import Settings
    from bot.evaluation.corpus import Case
    from engine.model.review import Label
    from storage.store import SqlTx

app = typer.Typer(no_args_is_help=True, help="How good the findings are.")
Config = Annotated[Path | None, typer.Option("--config", "-c", help="caveat.yaml")]
CORPUS = Path("../shared/data/rca")


def calibration(config: Config = None) -> None:
    """Say per model whether its confidence can be believed, from the verdicts people gave."""
    from bot.cli.opened import opened

    async def run() -> list[str]:
        async with opened(config) as tx:
            return await measured(tx)

    print("\n".join(asyncio.run(run())))


def live(
    usd: Annotated[float, typer.Option(min=0, help="stop before this many US dollars are spent")],
    corpus: Annotated[Path, typer.Option(help="folder of recorded failures")] = CORPUS,
    limit: Annotated[int, typer.Option(min=1, help="how many cases at most")] = 1000,
    config: Config = None,
) -> None:
    """Have the configured model judge recorded failures: this costs money."""
    from itertools import islice

    from bot.cli.errors import CommandError
    from bot.config import load
    from bot.evaluation.corpus import cases

    settings = load(config)
    if settings.model.api_key is None:
        raise CommandError("no model key: set CAVEAT_MODEL_API_KEY, or ANTHROPIC_API_KEY")
    if not corpus.is_dir():
        raise CommandError(f"no folder {corpus}: name one with --corpus")
    chosen = list(islice(cases(corpus), limit))
    if not chosen:
        raise CommandError(f"no recorded failure in {corpus}")
    asyncio.run(_live(chosen, settings, usd))


SUBCOMMANDS: dict[str, Callable[..., None]] = {"calibration": calibration, "live": live}
"""Every kind of measurement; one more is one more line."""
for name, command in SUBCOMMANDS.items():
    app.command(name)(command)


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


async def _live(chosen: "list[Case]", settings: "Settings", usd: float) -> None:
    from bot.compose import model_of, price_of
    from bot.evaluation.live import Purse, run
    from bot.evaluation.table import HEAD, row
    from engine.evaluation.answers import Graded, Tally
    from engine.redact import Redactor

    model = model_of(settings.model, Redactor(settings.secrets).text)
    assert model is not None, "its key was looked at"
    purse = Purse(model, usd, price_of(settings.model))
    done: list[Graded] = []
    async for one in run(chosen, settings, purse):
        if isinstance(one, str):
            print(one)
            continue
        done.append(one)
        right = "right" if one.correct else ("wrong" if one.named else "no cause")
        print(f"{one.case}: {one.disposition}, {one.trust_level}, {right}: {one.said[:80]}")
    print(HEAD)
    print(row(settings.triage.model, Tally.of(done)))
    print(f"{len(done)} of {len(chosen)} cases, {purse.calls} calls, ${purse.spent_usd:.4f}")
    if purse.empty:
        print(f"stopped: the next call could have gone past ${usd:.2f}, or has no known price")
