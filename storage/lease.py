"""A lease on something only one replica may do at a time, held by an open connection."""

import contextlib
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import psycopg

from engine.errors import StoreUnavailableError
from engine.ports import Clock
from storage.store import SqlStore

AGAIN_S = 2.0
"""Pause before asking for it again; whoever holds it may have gone."""
_TAKE = "select pg_try_advisory_lock(hashtextextended(%s, 0))"


class Lease:
    """Ours as long as its connection lives."""

    def __init__(self, connection: psycopg.AsyncConnection[tuple[bool]]) -> None:
        """Watch the connection that holds it."""
        self._connection = connection

    async def held(self) -> bool:
        """Whether it is still ours."""
        with contextlib.suppress(psycopg.Error):
            await self._connection.execute("select true")
            return True
        return False


@asynccontextmanager
async def lease(store: SqlStore, name: str, clock: Clock) -> AsyncIterator[Lease]:
    """Wait until a lease is ours, and let it go at the end.

    Raises:
        StoreUnavailableError: the database went away while it was waited for.
    """
    url = store.engine.url.set(drivername="postgresql")
    dsn = url.render_as_string(hide_password=False)
    async with AsyncExitStack() as stack:
        try:
            connection = await psycopg.AsyncConnection.connect(dsn, autocommit=True)
            stack.push_async_callback(connection.close)
            while not await _taken(connection, name):
                await clock.sleep(AGAIN_S)
        except psycopg.Error as error:
            raise StoreUnavailableError(type(error).__name__) from error
        yield Lease(connection)


async def _taken(connection: psycopg.AsyncConnection[tuple[bool]], name: str) -> bool:
    row = await (await connection.execute(_TAKE, (name,))).fetchone()
    return row is not None and row[0]
