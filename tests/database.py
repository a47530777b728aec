"""One real PostgreSQL for the whole test session; under xdist each worker has its own."""

import asyncio
import itertools
import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path

import pytest
from sqlalchemy import text

from storage.embedded import EmbeddedPostgres
from storage.migrate import migrate
from storage.store import SqlStore, open_store
from storage.tables import Base

FreshDatabase = Callable[[str | None], Awaitable[str]]

MEMORY = Path("/dev/shm")
ROOM_BYTES = 2_000_000_000

_numbers = itertools.count(1)


def open_folder() -> Path:
    """A new folder in memory where there is room (copying a database: 0.02 s, not 0.5 s), else on
    disk. Not pytest's own, which is closed to the user that root's server drops to.
    """
    roomy = MEMORY.is_dir() and shutil.disk_usage(MEMORY).free > ROOM_BYTES
    in_memory = roomy and not os.statvfs(MEMORY).f_flag & os.ST_NOEXEC
    folder = Path(tempfile.mkdtemp(prefix="caveat-", dir=MEMORY if in_memory else None))
    folder.chmod(0o711)
    return folder


@pytest.fixture(scope="session")
def postgres() -> Iterator[EmbeddedPostgres]:
    """A running server, ended with the session."""
    root = open_folder()
    server = EmbeddedPostgres(root, fast=True)
    try:
        yield server.start()
    finally:
        server.stop()
        shutil.rmtree(root)


@pytest.fixture
async def fresh_database(postgres: EmbeddedPostgres) -> AsyncIterator[FreshDatabase]:
    """Makes databases on demand, copies of a template when one is named; gone after the test."""
    made: list[str] = []

    async def make(template: str | None = None) -> str:
        made.append(f"fresh_{next(_numbers)}")
        return await postgres.ensure_database(made[-1], template)

    yield make
    for name in made:
        await postgres.drop_database(name)


@pytest.fixture(scope="session")
def template(postgres: EmbeddedPostgres) -> str:
    """Name of a database at the newest migration, to be copied."""
    name = "caveat_template"
    asyncio.run(migrate(asyncio.run(postgres.ensure_database(name))))
    return name


@pytest.fixture(scope="session")
def shared_database(postgres: EmbeddedPostgres, template: str) -> str:
    """URL of one database the tests of this session take turns in."""
    return asyncio.run(postgres.ensure_database("caveat_tests", template))


@pytest.fixture
async def store(shared_database: str) -> AsyncIterator[SqlStore]:
    """An empty store at the newest migration; emptied by what is quicker than a new copy."""
    opened = open_store(shared_database, audit_key=b"tests")
    names = ", ".join(Base.metadata.tables)
    async with opened.begin() as tx:
        await tx.session.execute(text(f"truncate {names} restart identity cascade"))
    yield opened
    await opened.close()
