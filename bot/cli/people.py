"""`caveat people`: who may do what."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from engine.model.org import Person, Role
    from storage.store import SqlTx

app = typer.Typer(no_args_is_help=True, help="People: their accounts and their roles.")
Config = Annotated[Path | None, typer.Option("--config", "-c", help="caveat.yaml")]
Client = Annotated[str, typer.Option(help="in which client; * is every one")]


@app.command("list")
def everybody(config: Config = None) -> None:
    """Everybody, with accounts and roles."""
    from bot.cli.opened import opened

    async def run() -> list[str]:
        async with opened(config) as tx:
            return [line(person) for person in await tx.people.every()]

    print("\n".join(asyncio.run(run())) or "nobody yet; `caveat link` makes an administrator")


@app.command()
def add(name: str, config: Config = None) -> None:
    """Make a person and print the code that ties their chat account."""
    from bot.cli.link import code_for, how
    from bot.cli.opened import opened, operator

    async def run() -> str:
        async with opened(config) as tx:
            person = await tx.people.named(name) or await tx.people.add(name, by=operator())
            return await code_for(tx, person, by=operator())

    code = asyncio.run(run())
    print(code)
    print(how(code, f"the account is {name}'s from then on"))


@app.command()
def grant(name: str, role: str, client: Client = "*", config: Config = None) -> None:
    """Give a role: runbooks:execute, resolutions:approve or admin."""
    from bot.cli.opened import opened, operator

    async def run() -> None:
        async with opened(config) as tx:
            person = await _named(tx, name)
            await tx.people.grant(person, client, _role(role), by=operator())

    asyncio.run(run())
    print(f"{name} holds {role} in {'every client' if client == '*' else client}")


@app.command()
def revoke(name: str, role: str, client: Client = "*", config: Config = None) -> None:
    """Take a role back; in effect at the next press."""
    from bot.cli.opened import opened, operator

    async def run() -> None:
        async with opened(config) as tx:
            person = await _named(tx, name)
            await tx.people.revoke(person, client, _role(role), by=operator())

    asyncio.run(run())
    print(f"{name} no longer holds {role} in {'every client' if client == '*' else client}")


@app.command()
def deactivate(name: str, config: Config = None) -> None:
    """Let a person do nothing any more; the audit trail keeps the name."""
    from bot.cli.opened import opened, operator

    async def run() -> None:
        async with opened(config) as tx:
            await tx.people.deactivate(await _named(tx, name), by=operator())

    asyncio.run(run())
    print(f"{name} is deactivated")


def line(person: "Person") -> str:
    """One person on one line."""
    accounts = ", ".join(f"{i.platform}:{i.account}" for i in person.identities) or "no account"
    roles = ", ".join(
        f"{role} ({client})" for client, held in sorted(person.roles.items()) for role in held
    )
    state = "" if person.active else "  [deactivated]"
    return f"{person.name}{state}  {accounts}  {roles or 'no role'}"


async def _named(tx: "SqlTx", name: str) -> "Person":
    from storage.people import PeopleError

    person = await tx.people.named(name)
    if person is None:
        raise PeopleError(f"nobody is named {name!r}; `caveat people list` lists everybody")
    return person


def _role(text: str) -> "Role":
    from bot.cli.errors import CommandError
    from engine.model.org import Role

    try:
        return Role(text)
    except ValueError:
        raise CommandError(f"no role {text!r}; there are {', '.join(Role)}") from None
