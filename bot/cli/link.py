"""`caveat link`: a one-time code that makes a chat account the administrator's."""

import asyncio
import secrets
from pathlib import Path

from bot.cli.opened import opened, operator
from engine.model.org import Person, Role
from storage.people import EVERYWHERE, PeopleError
from storage.rooms import CODE_TTL_S
from storage.store import SqlTx

LETTERS = "23456789ABCDEFGHJKMNPQRSTVWXYZ"
"""None that is easily taken for another."""
HALF = 6


def new_code() -> str:
    """A fresh code, 58 bits."""
    return "-".join("".join(secrets.choice(LETTERS) for _ in range(HALF)) for _ in range(2))


def link(name: str, config: Path | None) -> None:
    """Print a code; the shell on this host is the authority, so it grants `admin` everywhere."""
    code = asyncio.run(_link(name, config))
    print(code)
    print(how(code, f"{name} is admin from then on"))


async def _link(name: str, config: Path | None) -> str:
    async with opened(config) as tx:
        return await admin_code(tx, name, by=operator())


async def admin_code(tx: SqlTx, name: str, *, by: str) -> str:
    """A code that ties the account which sends it to the administrator of this name."""
    person = await tx.people.named(name) or await tx.people.add(name, by=by)
    await tx.people.grant(person, EVERYWHERE, Role.ADMIN, by=by)
    return await code_for(tx, person, by=by)


async def code_for(tx: SqlTx, person: Person, *, by: str) -> str:
    """A code of a person.

    Raises:
        PeopleError: the person is deactivated.
    """
    if not person.active:
        raise PeopleError(f"{person.name} is deactivated; choose another name")
    code = new_code()
    await tx.people.keep_code(person, code, by=by)
    return code


def how(code: str, then: str) -> str:
    """What to do with a code."""
    minutes = round(CODE_TTL_S / 60)
    return (
        f"Send `/caveat link {code}` in Slack or `/link {code}` to the Telegram bot "
        f"within {minutes} minutes; {then}. It works once."
    )
