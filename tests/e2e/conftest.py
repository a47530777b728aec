"""What every play needs: the template its database is copied from."""

import asyncio

import pytest

from storage.embedded import EmbeddedPostgres
from tests.e2e.moved import make_template


@pytest.fixture(scope="session")
def playhouse(postgres: EmbeddedPostgres) -> EmbeddedPostgres:
    """A server with the template of every play."""
    asyncio.run(make_template(postgres))
    return postgres
