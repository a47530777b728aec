"""`caveat token`: who may use the API."""

import asyncio
import secrets
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from engine.model.token import ApiToken, Scope

BYTES = 32
"""256 bits: no salt and no slow hash is needed."""
DAYS = 90

app = typer.Typer(no_args_is_help=True, help="Tokens of the API: made, listed, taken back.")
Config = Annotated[Path | None, typer.Option("--config", "-c", help="caveat.yaml")]


class Kind(StrEnum):
    """Who will hold it."""

    HUMAN = "human"
    SERVICE = "service"


@app.command()
def add(
    name: str,
    scope: Annotated[list[str], typer.Option(help="such as read; may be given again")],
    kind: Annotated[Kind, typer.Option(help="who will hold it")] = Kind.SERVICE,
    client: Annotated[str, typer.Option(help="which client it opens; * is every one")] = "*",
    days: Annotated[int, typer.Option(help="how long it lives")] = DAYS,
    config: Config = None,
) -> None:
    """Print a new token once; only its hash is kept."""
    from bot.cli.opened import opened, operator
    from engine.model.token import TokenKind

    secret = secrets.token_urlsafe(BYTES)

    async def run() -> None:
        async with opened(config) as tx:
            await tx.tokens.add(
                secret,
                name=name,
                kind=TokenKind(kind.value),
                scopes=[scope_of(one) for one in scope],
                client_id=None if client == "*" else client,
                days=days,
                by=operator(),
            )

    asyncio.run(run())
    print(secret)


@app.command("list")
def every(config: Config = None) -> None:
    """Every token there ever was, newest first; never its secret."""
    from bot.cli.opened import opened

    async def run() -> list[str]:
        async with opened(config) as tx:
            now = await tx.now()
            return [line(token, now) for token in await tx.tokens.every()]

    print("\n".join(asyncio.run(run())) or "no token yet; `caveat token add` makes one")


@app.command()
def revoke(name: str, config: Config = None) -> None:
    """Take a token back; in effect at its next use."""
    from bot.cli.opened import opened, operator

    async def run() -> None:
        async with opened(config) as tx:
            await tx.tokens.revoke(name, by=operator())

    asyncio.run(run())
    print(f"{name} opens nothing any more")


def line(token: "ApiToken", now: datetime) -> str:
    """One token on one line."""
    if token.revoked_at is not None:
        state = f"revoked {token.revoked_at:%Y-%m-%d}"
    else:
        state = f"{'expired' if token.expires_at <= now else 'until'} {token.expires_at:%Y-%m-%d}"
    client = token.client_id or "every client"
    return f"{token.name}  {token.kind}  {', '.join(token.scopes)}  {client}  {state}"


def scope_of(text: str) -> "Scope":
    """Read a scope."""
    from bot.cli.errors import CommandError
    from engine.model.token import Scope

    try:
        return Scope(text)
    except ValueError:
        raise CommandError(f"no scope {text!r}; there are {', '.join(Scope)}") from None
