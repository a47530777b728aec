"""`caveat letters` and `caveat retriage`: what was given up, and another try at it."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from storage.letters import Letter
    from storage.store import SqlTx

MOST_SHOWN = 100


def letters(config: Path | None) -> None:
    """Print what was given up and not taken up again, newest first."""
    from bot.cli.opened import opened

    async def run() -> list[str]:
        async with opened(config) as tx:
            return [line(one) for one in await tx.letters.waiting(MOST_SHOWN)]

    print("\n".join(asyncio.run(run())) or "nothing was given up")


def retriage(client: str, number: int, config: Path | None) -> None:
    """Have an incident investigated now; a running `caveat serve` does the work."""
    from bot.cli.opened import opened, operator

    async def run() -> str:
        async with opened(config) as tx:
            return await taken_up(tx, client, number, by=operator())

    print(asyncio.run(run()))


async def taken_up(tx: "SqlTx", client: str, number: int, *, by: str) -> str:
    """Take an incident up, and say so.

    Raises:
        CommandError: there is no such incident, or it is over.
    """
    from bot.cli.errors import CommandError
    from storage.letters import LetterError

    try:
        resumed = await tx.letters.retriage(client, number, by=by)
    except LetterError as error:
        raise CommandError(str(error)) from None
    was = " (it had been given up)" if resumed else ""
    return f"incident {number} of {client} is investigated again{was}"


def line(letter: "Letter") -> str:
    """One letter on one line."""
    at = letter.at.strftime("%Y-%m-%d %H:%M:%S UTC")
    about = f"incident {letter.number}" if letter.number is not None else letter.subject_id
    said = " ".join(letter.error.split())[:120]
    return f"{at}  {letter.client_id}  {letter.kind}  {about}  {letter.reason}  {said}"
