"""One real PostgreSQL for the whole test session; under xdist each worker has its own."""

import itertools
import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path

import pytest

from storage.embedded import EmbeddedPostgres

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
