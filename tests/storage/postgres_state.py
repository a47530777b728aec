"""What the tests of the embedded PostgreSQL ask of servers, databases and processes."""

import contextlib
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg

from storage.embedded import EmbeddedPostgres
from tests.storage.postgres_app import WAIT_S


def copied(source: Path, target: Path) -> Path:
    subprocess.run(["cp", "-a", source, target], check=True)
    return target


@contextlib.contextmanager
def running(root: Path, **settings: object) -> Iterator[EmbeddedPostgres]:
    usual = {"fast": True, "shelter": root.parent / "shelter"}
    server = EmbeddedPostgres(root, **{**usual, **settings})  # type: ignore[arg-type]
    try:
        yield server.start()
    finally:
        server.stop()


def execute(dsn: str, statement: str) -> None:
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(statement)


def value(dsn: str, query: str) -> object:
    with psycopg.connect(dsn) as connection:
        row = connection.execute(query).fetchone()
    return row[0] if row else None


def kept(dsn: str) -> object:
    return value(dsn, "select n from kept")


def answers(dsn: str) -> bool:
    try:
        psycopg.connect(dsn).close()
    except psycopg.OperationalError:
        return False
    return True


def eventually(holds: Callable[[], bool]) -> bool:
    end = time.monotonic() + WAIT_S
    while not holds():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def gone(pid: int) -> bool:
    try:
        return not Path(f"/proc/{pid}/cmdline").read_bytes()  # empty: dead, and not yet buried
    except FileNotFoundError:
        return True
