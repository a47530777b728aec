"""One real PostgreSQL for the whole test session; under xdist each worker has its own."""

import itertools
import shutil
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path

import pytest

from storage.embedded import EmbeddedPostgres

FreshDatabase = Callable[[str | None], Awaitable[str]]

_numbers = itertools.count(1)


@pytest.fixture(scope="session")
def postgres() -> Iterator[EmbeddedPostgres]:
    """A running server. Its folder is not pytest's, which is closed to the user root drops to."""
    root = Path(tempfile.mkdtemp(prefix="caveat-tests-"))
    root.chmod(0o711)
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
