"""Brings a database to this version of the tables."""

import asyncio
from pathlib import Path

from alembic import command
from alembic.config import Config
from sqlalchemy.exc import OperationalError, ProgrammingError

from engine.errors import StoreUnavailableError
from storage.vectors import enable_vectors


def migrations() -> Path:
    """Where the migrations are: inside the installed package, or beside it in a checkout."""
    installed = Path(__file__).parent / "migrations"
    return installed if installed.is_dir() else Path(__file__).parents[1] / "alembic"


def alembic_config(url: str) -> Config:
    """An Alembic configuration for one database; the URL bypasses ini interpolation."""
    config = Config()
    config.set_main_option("script_location", str(migrations()).replace("%", "%%"))
    config.attributes["url"] = url
    return config


async def migrate(url: str, *, bundled: bool = True) -> None:
    """Run every migration that is missing, and prepare memory where the server can hold it.

    Args:
        url: of the database.
        bundled: the server is the one from our wheel.

    Raises:
        StoreUnavailableError: the database cannot be reached, or refuses this user.
    """
    try:
        await asyncio.to_thread(command.upgrade, alembic_config(url), "head")
    except (OperationalError, ProgrammingError) as error:
        raise StoreUnavailableError(str(error.orig).strip()) from error
    await enable_vectors(url, bundled=bundled)
