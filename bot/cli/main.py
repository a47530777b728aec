"""The `caveat` command: one sub-command a file."""

import typer

app = typer.Typer(no_args_is_help=True, add_completion=False)


@app.callback()
def caveat() -> None:
    """A chatops bot for people on call."""


def run() -> None:
    """Start the command line."""
    app()
