"""The `caveat` command: one sub-command a file, loaded only when it is called."""

from pathlib import Path
from typing import Annotated

import typer

from bot.cli import client, config_, eval_, init, people, quarantine, review, rooms, token, try_
from bot.cli.errors import line_of, told

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


@app.command()
def look(
    prometheus: Annotated[str | None, typer.Option(help="its base address")] = None,
    alertmanager: Annotated[str | None, typer.Option(help="its base address")] = None,
    limit: Annotated[int, typer.Option(min=1, help="how many cards")] = 5,
    client_name: Annotated[str | None, typer.Option("--client", help="of caveat.yaml")] = None,
    config: Config = None,
) -> None:
    """Show what fires now as facts cards: read-only, nothing stored, sent or spent."""
    from bot.cli.look import Asked
    from bot.cli.look import look as run_look

    run_look(Asked(prometheus, alertmanager, config, client_name, limit))


@app.command()
def check(config: Config = None) -> None:
    """Say of every part whether it works, or the one thing to do; no paid call."""
    from bot.cli.check import check as run_check

    raise typer.Exit(run_check(config))


@app.command()
def link(
    name: Annotated[str, typer.Option(help="whose account it becomes")] = "admin",
    config: Config = None,
) -> None:
    """Print a one-time code; who sends it in chat is admin."""
    from bot.cli.link import link as run_link

    run_link(name, config)


@app.command()
def verdict(
    incident: Annotated[str, typer.Argument(help="its number, as the card says it, or its id")],
    word: Annotated[str, typer.Argument(help="right, wrong, fix-worked or fix-failed")],
    client_name: Annotated[
        str | None, typer.Option("--client", help="whose incident; needed with several")
    ] = None,
    config: Config = None,
) -> None:
    """Say whether a finding was right; it counts for its family and for its model."""
    from bot.cli.verdict import verdict as run_verdict

    run_verdict(incident, word, client_name, config)


@app.command()
def letters(config: Config = None) -> None:
    """What was given up, with the reason; `caveat retriage` takes it up again."""
    from bot.cli.letters import letters as run_letters

    run_letters(config)


@app.command()
def retriage(
    number: Annotated[int, typer.Argument(help="of the incident, as its card says")],
    client_name: Annotated[str, typer.Option("--client", help="of caveat.yaml")] = "default",
    config: Config = None,
) -> None:
    """Investigate an incident again, also one that was given up."""
    from bot.cli.letters import retriage as run_retriage

    run_retriage(client_name, number, config)


@app.command()
def replay(
    triage: Annotated[str, typer.Argument(help="its id, or its incident's")],
    config: Config = None,
) -> None:
    """Print what an investigation did, step by step, from the record: no model is asked."""
    from bot.cli.replay import replay as run_replay

    run_replay(triage, config)


app.command("init")(init.init)
app.add_typer(client.app, name="client")
app.add_typer(people.app, name="people")
app.add_typer(rooms.app, name="rooms")
app.add_typer(config_.app, name="config")
app.add_typer(eval_.app, name="eval")
app.add_typer(quarantine.app, name="quarantine")
app.add_typer(review.app, name="review")
app.add_typer(token.app, name="token")
app.add_typer(try_.app, name="try")


def run() -> None:
    """Start the command line; what a person can put right is told in a line, not traced."""
    try:
        app()
    except SystemExit:
        raise  # the usual end; what follows is imported only where something went wrong
    except told() as error:
        typer.echo(line_of(error), err=True)
        raise SystemExit(2) from None
