"""`caveat try`: one part on its own, JSON lines in and out."""

import asyncio
import sys
from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(
    no_args_is_help=True, help="One part on its own; nothing is kept, nobody is asked."
)


@app.command()
def source(name: str, files: list[Path]) -> None:
    """Read alert payloads as the source NAME would; one line per alert or per fault."""
    from bot.backends.clock import SystemClock
    from bot.cli.try_source import run_source

    for line in run_source(name, files, SystemClock().now()):
        print(line)


@app.command()
def promql() -> None:
    """Judge expressions on standard input, one a line: valid, invalid or unsure."""
    from bot.cli.try_promql import run_promql

    for line in run_promql(sys.stdin):
        print(line)


@app.command()
def card(
    file: Path,
    to: Annotated[str, typer.Option(help="slack, telegram, terminal or markdown")] = "terminal",
) -> None:
    """Draw the facts card of an Alertmanager payload as it would be posted."""
    from bot.backends.clock import SystemClock
    from bot.cli.try_card import run_card

    print(run_card(to, file.read_bytes(), SystemClock().now()))


@app.command()
def indicators() -> None:
    """Find what a text names that can be looked up: JSON lines with `text` and `known`."""
    from bot.cli.try_grounded import run_indicators

    for line in run_indicators(sys.stdin):
        print(line)


@app.command()
def groundedness() -> None:
    """Score findings against their evidence: JSON lines with `finding` and `evidence`."""
    from bot.cli.try_grounded import run_groundedness

    for line in run_groundedness(sys.stdin):
        print(line)


@app.command()
def error() -> None:
    """Class what a provider answered: JSON lines with `kind`, `status`, `headers` and `body`."""
    from bot.cli.try_error import run_error

    for line in run_error(sys.stdin):
        print(line)


@app.command()
def recall(
    corpus: Annotated[Path, typer.Option(help="documents, JSON lines with `id` and `text`")],
) -> None:
    """Rank documents for queries on standard input: JSON lines with `id` and `text`."""
    from bot.cli.try_recall import read, run_recall

    documents = read(corpus.read_text("utf-8").splitlines())
    queries = read(sys.stdin)

    async def run() -> None:
        async for line in run_recall(documents, queries):
            print(line, flush=True)

    asyncio.run(run())
