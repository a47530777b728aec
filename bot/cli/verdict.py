"""`caveat verdict`: says whether a finding was right, or whether its fix worked."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bot.config import Settings
    from engine.model.review import Verdict
    from storage.store import SqlTx


def verdict(said: str, word: str, client: str | None, config: Path | None) -> None:
    """Give it, as whoever has a shell here."""
    from bot.cli.opened import operator
    from bot.config import load
    from bot.database import database

    settings, meant = load(config), known(word)

    async def run() -> str:
        async with database(settings) as store, store.begin() as tx:
            return await given(tx, chosen(settings, client), said, meant, by=operator())

    print(asyncio.run(run()))


def known(word: str) -> "Verdict":
    """The verdict a word stands for.

    Raises:
        CommandError: there is none such.
    """
    from bot.cli.errors import CommandError
    from engine.model.review import Verdict

    try:
        return Verdict(word)
    except ValueError:
        raise CommandError(f"no verdict {word!r}; there are {', '.join(Verdict)}") from None


def chosen(settings: "Settings", client: str | None) -> str:
    """The client that is meant; the only one, when none is named.

    Raises:
        CommandError: there are several.
    """
    from bot.cli.errors import CommandError

    names = sorted(settings.by_client)
    if client is not None:
        return client
    if len(names) > 1:
        raise CommandError(f"name the client with --client: {', '.join(names)}")
    return names[0]


async def given(tx: "SqlTx", client: str, said: str, word: "Verdict", *, by: str) -> str:
    """Keep a verdict and say what came of it.

    Raises:
        CommandError: there is no such incident, or nothing was found out about it.
    """
    from bot.cli.errors import CommandError
    from engine.outcomes import VerdictError, give_verdict

    incident = await tx.incidents.named(client, said)
    if incident is None:
        raise CommandError(f"{client} has no incident {said}")
    try:
        kept = await give_verdict(tx, incident, word, by=by)
    except VerdictError as error:
        raise CommandError(str(error)) from None
    record = await tx.outcomes.record(client, kept.family_key)
    told = f"; {record.held} of {record.of} verdicts of this family held" if record else ""
    return f"incident {incident.number}: {word}, said by {by}{told}"
