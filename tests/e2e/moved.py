"""Time moved by hand, for the process and for its database alike."""

import asyncio
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime, timedelta

import psycopg

from storage.embedded import EmbeddedPostgres
from storage.migrate import migrate

CURTAIN = datetime(2026, 12, 1, 3, 0, 5, tzinfo=UTC)
"""When every play begins: at night, five seconds after a scrape."""
BEFORE = timedelta(hours=25)
"""How long before the curtain the house opens: its source is no stranger by then."""
TEMPLATE = "play_template"
SHIFTED = """
    create schema moved;
    create table moved.shift (by interval not null);
    insert into moved.shift values ('0');
    create function moved.clock_timestamp() returns timestamptz language sql volatile as
        'select pg_catalog.clock_timestamp() + by from moved.shift';
"""
"""An own `clock_timestamp` that is found before PostgreSQL's: no product code knows of it."""


class MovedClock:
    """The machine's time, shifted to the evening before the curtain; waits last as long."""

    def __init__(self, *, live: bool = False) -> None:
        self.shift = timedelta() if live else CURTAIN - BEFORE - datetime.now(UTC)
        self._ahead_s = 0.0

    def now(self) -> datetime:
        return datetime.now(UTC) + self.shift

    def monotonic(self) -> float:
        return asyncio.get_running_loop().time() + self._ahead_s

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    def timeout(self, seconds: float) -> AbstractAsyncContextManager[object]:
        return asyncio.timeout(seconds)

    def jump(self, offset_s: float) -> None:
        """Make it so many seconds after the curtain, unless it is later already."""
        ahead = CURTAIN + timedelta(seconds=offset_s) - self.now()
        if ahead > timedelta():
            self.shift += ahead
            self._ahead_s += ahead.total_seconds()


async def make_template(server: EmbeddedPostgres) -> None:
    """Make the database plays are copied from, unless it is there."""
    url = await server.ensure_database(TEMPLATE)
    async with await psycopg.AsyncConnection.connect(server.dsn(TEMPLATE), autocommit=True) as one:
        found = await one.execute("select 1 from pg_namespace where nspname = 'moved'")
        if await found.fetchone() is None:
            await one.execute(SHIFTED)
            # The defaults of columns are bound when the tables are made: to our time as well.
            await one.execute(_searching(TEMPLATE))
            await migrate(url)


async def make_movable(server: EmbeddedPostgres, name: str) -> str:
    """Make a database whose time can be moved, with every table; gives its URL."""
    url = await server.ensure_database(name, TEMPLATE)
    dsn = server.dsn(name)
    async with await psycopg.AsyncConnection.connect(dsn, autocommit=True) as one:
        await one.execute(_searching(name))
    return url


def _searching(name: str) -> str:
    return f'alter database "{name}" set search_path = public, moved, pg_catalog'


async def move_database(dsn: str, shift: timedelta) -> None:
    """Set how far the database's time is ahead, and wake whoever waits for something due."""
    async with await psycopg.AsyncConnection.connect(dsn, autocommit=True) as one:
        await one.execute("update moved.shift set by = %s", (shift,))
        await one.execute("select pg_notify('caveat_jobs', ''), pg_notify('caveat_cards', '')")
