"""`caveat eval live`: recorded failures judged by the configured model."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from bot.config import Settings
    from bot.evaluation.corpus import Case

Config = Annotated[Path | None, typer.Option("--config", "-c", help="caveat.yaml")]
CORPUS = Path("../shared/data/rca")


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
