"""`caveat client`: tenants, their flags and the tokens of their senders."""

import asyncio
import secrets
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from bot.config import Settings
    from engine.model.org import Client
    from storage.store import SqlTx

app = typer.Typer(no_args_is_help=True, help="Clients: their flags and the tokens of senders.")
Config = Annotated[Path | None, typer.Option("--config", "-c", help="caveat.yaml")]


class Switch(StrEnum):
    """What a flag is set to."""

    ON = "on"
    OFF = "off"


@app.command("list")
def every(config: Config = None) -> None:
    """Every client with its flags."""
    from bot.cli.opened import opened

    async def run() -> list[str]:
        async with opened(config) as tx:
            return [line(client) for client in await tx.org.clients()]

    print("\n".join(asyncio.run(run())) or "none yet; `caveat serve` makes those of caveat.yaml")


@app.command("set")
def set_flag(name: str, flag: str, value: Switch, config: Config = None) -> None:
    """Switch a flag that caveat.yaml leaves open."""
    from bot.cli.opened import opened, operator

    async def run() -> None:
        async with opened(config) as tx:
            await switch(tx, name, flag, value is Switch.ON, by=operator())

    asyncio.run(run())
    print(f"{name}: {flag} is {value}")


@app.command()
def token(
    name: str,
    kind: str,
    revoke: Annotated[bool, typer.Option("--revoke", help="take it back, print none")] = False,
    config: Config = None,
) -> None:
    """Print a new token for senders of this KIND once; the one before stops working."""
    from bot.cli.opened import operator
    from bot.config import load
    from bot.database import database

    settings = load(config)

    async def run() -> str | None:
        async with database(settings) as store, store.begin() as tx:
            return await renew(tx, settings, name, kind, revoke=revoke, by=operator())

    print(asyncio.run(run()) or f"{name}: no token opens {kind} any more")


async def switch(tx: "SqlTx", name: str, flag: str, value: bool, *, by: str) -> None:
    """Set a flag, with its audit row."""
    from bot.cli.errors import CommandError

    try:
        await tx.org.set_flag(name, flag, value)
    except ValueError as error:
        raise CommandError(str(error)) from None
    facts = {"flag": flag, "value": "on" if value else "off"}
    await tx.audit.append(name, by, "flag set", facts)


async def renew(
    tx: "SqlTx", settings: "Settings", name: str, kind: str, *, revoke: bool, by: str
) -> str | None:
    """Give a source a new token, of which only the hash is kept; None when it was taken back."""
    from bot.declare import source_id

    await _may_renew(tx, settings, name, kind)
    fresh = secrets.token_urlsafe(32)
    own_id = await tx.sources.renew(source_id(name, kind), name, kind=kind, name=kind, token=fresh)
    if revoke:
        await tx.sources.forget_token(own_id)
    action = "sender token revoked" if revoke else "sender token renewed"
    await tx.audit.append(name, by, action, {"source": own_id})
    return None if revoke else fresh


async def _may_renew(tx: "SqlTx", settings: "Settings", name: str, kind: str) -> None:
    from bot.cli.errors import CommandError
    from bot.sources.table import CHANGE_SOURCES, SOURCES

    known = sorted([*SOURCES, *CHANGE_SOURCES])
    if kind not in known:
        raise CommandError(f"no kind of source named {kind!r}; there are {', '.join(known)}")
    declared = settings.by_client.get(name)
    if declared is not None and declared.webhook_token is not None:
        raise CommandError(f"{name}'s token is set by CAVEAT_WEBHOOK_TOKEN; change it there")
    try:
        await tx.org.client(name)
    except LookupError as error:
        raise CommandError(str(error)) from None


def line(client: "Client") -> str:
    """One client on one line."""
    flags = (f"{name} {'on' if value else 'off'}" for name, value in client.flags)
    return f"{client.id}  {', '.join(flags)}"
