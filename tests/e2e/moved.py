"""Time moved by hand, for the process and for its database alike."""

import asyncio
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime, timedelta

import psycopg

from storage.embedded import EmbeddedPostgres

SHIFTED = """
    create schema moved;
    create table moved.shift (by interval not null);
    insert into moved.shift values ('0');
    create function moved.clock_timestamp() returns timestamptz language sql volatile as
        'select pg_catalog.clock_timestamp() + by from moved.shift';
"""
"""An own `clock_timestamp` that is found before PostgreSQL's: no product code knows of it."""


class MovedClock:
    """The machine's time plus what tests added; waits and time-outs last as long as they last."""

    def __init__(self) -> None:
        self.shift_s = 0.0

    def now(self) -> datetime:
        return datetime.now(UTC) + timedelta(seconds=self.shift_s)

    def monotonic(self) -> float:
        return asyncio.get_running_loop().time() + self.shift_s

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    def timeout(self, seconds: float) -> AbstractAsyncContextManager[object]:
        return asyncio.timeout(seconds)


async def make_movable(server: EmbeddedPostgres, name: str) -> str:
    """Make a database whose time can be moved; its tables come with the migrations after this."""
    url = await server.ensure_database(name)
    async with await psycopg.AsyncConnection.connect(server.dsn(name), autocommit=True) as one:
        await one.execute(SHIFTED)
        await one.execute(f'alter database "{name}" set search_path = public, moved, pg_catalog')
    return url


async def move_database(dsn: str, shift_s: float) -> None:
    """Set how far the database's time is ahead."""
    async with await psycopg.AsyncConnection.connect(dsn, autocommit=True) as one:
        await one.execute("update moved.shift set by = make_interval(secs => %s)", (shift_s,))
        await one.execute("select pg_notify('caveat_jobs', ''), pg_notify('caveat_cards', '')")
