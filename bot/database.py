"""The database of an install: a configured one, or the embedded one under the state folder."""

import asyncio
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from bot.config import ConfigError, Settings
from storage.embedded import EmbeddedPostgres
from storage.migrate import migrate
from storage.store import SqlStore, open_store

DATABASE = "caveat"


@asynccontextmanager
async def database(settings: Settings) -> AsyncIterator[SqlStore]:
    """Open the configured database, or start the embedded one, at the newest migration."""
    key = audit_key(settings.home)
    if settings.database_url is not None:
        url = psycopg_url(settings.database_url.get_secret_value())
        async with _opened(url, key, bundled=False) as store:
            yield store
        return
    server = EmbeddedPostgres(settings.home / "postgres", programs=settings.pg_bin).start()
    watch = asyncio.create_task(server.supervise())
    try:
        async with _opened(await server.ensure_database(DATABASE), key) as store:
            yield store
    finally:
        watch.cancel()
        await asyncio.gather(watch, return_exceptions=True)
        server.stop()


@asynccontextmanager
async def _opened(url: str, key: bytes, *, bundled: bool = True) -> AsyncIterator[SqlStore]:
    await migrate(url, bundled=bundled)
    store = open_store(url, audit_key=key)
    try:
        yield store
    finally:
        await store.close()


def psycopg_url(url: str) -> str:
    """Read any spelling of a PostgreSQL URL as one for our driver.

    Raises:
        ConfigError: it is the URL of something else.
    """
    scheme, separator, rest = url.partition("://")
    if not separator or scheme.split("+")[0] not in {"postgres", "postgresql"}:
        raise ConfigError("CAVEAT_DATABASE_URL must read postgresql://user:password@host/database")
    return f"postgresql+psycopg://{rest}"


def audit_key(home: Path) -> bytes:
    """The key that seals the audit trail; made at the first start, readable by us only."""
    home.mkdir(parents=True, exist_ok=True)
    path = home / "audit.key"
    if not path.exists():
        path.touch(mode=0o600)
        path.write_text(secrets.token_hex(32), encoding="ascii")
    return bytes.fromhex(path.read_text(encoding="ascii").strip())
