"""The `caveat` command: one sub-command a file, loaded only when it is called."""

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(
    no_args_is_help=True, add_completion=False, help="A chatops bot for people on call."
)
Config = Annotated[
    Path | None, typer.Option("--config", "-c", help="caveat.yaml; default: the one in this folder")
]


@app.command()
def serve(config: Config = None) -> None:
    """Take alerts, show cards, investigate: everything in one process."""
    from bot.cli.serve import serve as run_serve

    run_serve(config, front=True)


@app.command()
def worker(config: Config = None) -> None:
    """Only work on jobs; for more machines on one external database."""
    from bot.cli.serve import serve as run_serve

    run_serve(config, front=False)


@app.command()
def drill(
    name: Annotated[
        str,
        typer.Argument(help="deploy-regression, storm, db-outage, no-evidence or all"),
    ] = "deploy-regression",
    config: Config = None,
) -> None:
    """Rehearse the whole life of a card; no account and no key needed."""
    from bot.cli.drill import drill as run_drill
    from bot.drill.table import SCENARIOS

    if name != "all" and name not in SCENARIOS:
        raise typer.BadParameter(
            f"no scenario named {name!r}; there are {', '.join(SCENARIOS)}, all"
        )
    run_drill(name, config)


def run() -> None:
    """Start the command line; a fault in the configuration is told, not traced."""
    from bot.config import ConfigError

    try:
        app()
    except ConfigError as error:
        typer.echo(str(error), err=True)
        raise SystemExit(2) from None
