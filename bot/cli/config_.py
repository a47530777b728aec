"""`caveat config`: every key there is, and what is in force."""

from pathlib import Path
from typing import Annotated, Any

import typer

app = typer.Typer(help="Settings: every key there is, and what is in force.")
Config = Annotated[Path | None, typer.Option("--config", "-c", help="caveat.yaml")]


@app.callback(invoke_without_command=True)
def config(
    context: typer.Context,
    defaults: Annotated[
        bool, typer.Option("--defaults", help="every key with its default and what it is")
    ] = False,
) -> None:
    """Settings: every key there is, and what is in force."""
    if defaults:
        from bot.cli.reference import as_text

        print(as_text())
    elif context.invoked_subcommand is None:
        print(context.get_help())


@app.command()
def show(config: Config = None) -> None:
    """Print what is in force here, as YAML; secrets are masked."""
    from bot.config import load

    print(in_force(load(config)), end="")


def in_force(settings: Any) -> str:
    """Settings as YAML under the names of the file, every secret masked."""
    import yaml

    from engine.redact import Redactor

    redactor = Redactor(settings.secrets)
    told = _told(settings.model_dump(mode="json"), redactor.text)
    return yaml.safe_dump(told, sort_keys=False, allow_unicode=True)


def _told(value: Any, masked: Any) -> Any:
    from bot.config_keys import spelled

    if isinstance(value, dict):
        return {spelled(str(key)): _told(part, masked) for key, part in value.items()}
    if isinstance(value, list):
        return [_told(part, masked) for part in value]
    return masked(value) if isinstance(value, str) else value
