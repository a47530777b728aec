"""The database for a command that changes one thing, and who does it."""

import getpass
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from bot.config import load
from bot.database import database
from storage.store import SqlTx


@asynccontextmanager
async def opened(config: Path | None) -> AsyncIterator[SqlTx]:
    """One transaction on the configured database; it commits when the block ends well."""
    async with database(load(config)) as store, store.begin() as tx:
        yield tx


def operator() -> str:
    """Who has a shell here, for the audit trail."""
    try:
        return f"cli:{getpass.getuser()}"
    except (KeyError, OSError):
        return "cli"
