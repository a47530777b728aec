"""Runs migrations: one at a time however many replicas start, each in its own transaction."""

import asyncio

from alembic import context
from sqlalchemy import Connection, pool, text
from sqlalchemy.ext.asyncio import create_async_engine

from storage.tables import Base

LOCK = 4_202_611_301
"""Key of the advisory lock that starting replicas queue on."""


def _is_ours(name: str | None, kind: str, _: object) -> bool:
    """Leave out what stands beside the migrations: vectors, where the server can hold them."""
    return kind != "table" or name in Base.metadata.tables


def _migrate(connection: Connection) -> None:
    connection.execute(text("select pg_advisory_lock(:key)"), {"key": LOCK})
    connection.commit()
    try:
        context.configure(
            connection=connection,
            target_metadata=Base.metadata,
            include_name=_is_ours,
            transaction_per_migration=True,
        )
        with context.begin_transaction():
            context.run_migrations()
        connection.commit()
    finally:
        connection.rollback()
        connection.execute(text("select pg_advisory_unlock(:key)"), {"key": LOCK})
        connection.commit()


async def _online() -> None:
    engine = create_async_engine(context.config.attributes["url"], poolclass=pool.NullPool)
    async with engine.connect() as connection:
        await connection.run_sync(_migrate)
    await engine.dispose()


asyncio.run(_online())
