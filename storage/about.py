"""What a database says of itself."""

from sqlalchemy import text

from engine.model.base import Frozen
from storage.store import SqlTx

_ABOUT = text("""
    select current_setting('server_version') as version,
        pg_database_size(current_database()) as size_bytes,
        exists (select from pg_available_extensions where name = 'vector') as vector_installed
""")


class DatabaseFacts(Frozen):
    """A database server and our database on it."""

    version: str
    size_bytes: int
    vector_installed: bool
    """The server has pgvector's files; whether its CPU can run them is another question."""


async def about(tx: SqlTx) -> DatabaseFacts:
    """Ask the server."""
    row = (await tx.session.execute(_ABOUT)).one()
    return DatabaseFacts.model_validate(row._asdict())
