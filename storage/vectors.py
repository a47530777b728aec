"""Search by likeness: pgvector's extension and the table that needs it, where both can be had."""

import logging

from sqlalchemy import text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.pool import NullPool

from storage.postgres.programs import vector_supported

logger = logging.getLogger(__name__)
DIMENSIONS = 1536
_LOCK = 4_202_611_303
"""Key of the advisory lock that starting replicas queue on."""
_INSTALLED = text("select exists (select from pg_available_extensions where name = 'vector')")
_TABLE = f"""
    create table if not exists stub_embeddings (
        stub_id text not null references resolution_stubs (id) on delete cascade,
        embedding text not null,
        vector vector({DIMENSIONS}) not null,
        words tsvector,
        primary key (stub_id, embedding)
    )
"""
_WORDS = """
    select exists (select from pg_attribute
        where attrelid = 'stub_embeddings'::regclass and attname = 'words' and not attisdropped)
"""
_ADD_WORDS = "alter table stub_embeddings add column words tsvector"
"""Of the symptom; a table made before there were words gets them here."""


async def enable_vectors(url: str, *, bundled: bool = True) -> bool:
    """Make the table of embeddings, once; False where memory cannot search by likeness.

    It is tried at every start: a server may learn it later, and all else works without.

    Args:
        url: of the database, at the newest migration.
        bundled: the server is the one from our wheel, whose pgvector some CPUs cannot run.
    """
    if bundled and not vector_supported()[0]:
        return False
    engine = create_async_engine(url, poolclass=NullPool)
    try:
        async with engine.begin() as connection:
            if not (await connection.execute(_INSTALLED)).scalar_one():
                return False
            await connection.execute(text("select pg_advisory_xact_lock(:k)"), {"k": _LOCK})
            await connection.execute(text("create extension if not exists vector"))
            await connection.execute(text(_TABLE))
            if not (await connection.execute(text(_WORDS))).scalar_one():
                await connection.execute(text(_ADD_WORDS))
    except DBAPIError as error:
        logger.warning("memory cannot search by likeness: %s", type(error.orig).__name__)
        return False
    finally:
        await engine.dispose()
    return True
