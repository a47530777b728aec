"""Wake-up calls of the database, passed on to whoever waits in this process."""

import asyncio
import contextlib

import psycopg

from storage.store import SqlStore

AGAIN_S = 0.5
"""Pause before connecting again."""


async def listen(store: SqlStore, channel: str, wake: asyncio.Event) -> None:
    """Set `wake` at every call on `channel` until cancelled; reconnects when it goes away."""
    url = store.engine.url.set(drivername="postgresql")
    dsn = url.render_as_string(hide_password=False)
    while True:
        with contextlib.suppress(psycopg.Error):
            connection = await psycopg.AsyncConnection.connect(dsn, autocommit=True)
            async with connection:
                await connection.execute(f"listen {channel}")
                wake.set()
                async for _ in connection.notifies():
                    wake.set()
        await asyncio.sleep(AGAIN_S)
