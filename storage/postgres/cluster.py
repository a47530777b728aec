"""One set of database files: made once, cleared of what a crash left, served by one process."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from engine.model.base import Frozen
from storage.postgres import launch
from storage.postgres.account import ENVIRONMENT, Account, require_a_name
from storage.postgres.errors import InitFailedError, OrphanError, WrongVersionError
from storage.postgres.place import Place
from storage.postgres.programs import major_version

PID_FILE = "postmaster.pid"
PORT = 5432
"""Only part of the socket's name: no network port is opened."""
SUPERUSER = "postgres"
SETTINGS = {
    "listen_addresses": "",
    "unix_socket_permissions": "0700",
    "max_connections": "60",
    "shared_buffers": "128MB",
    "max_wal_size": "512MB",
    "wal_compression": "on",
    "jit": "off",
    "dynamic_shared_memory_type": "mmap",  # a container's /dev/shm of 64 MB ends index builds
    "idle_in_transaction_session_timeout": "60s",
    "log_min_messages": "warning",
    "log_timezone": "UTC",
    "timezone": "UTC",
}
"""A small server for one team."""
FAST_SETTINGS = {"fsync": "off", "full_page_writes": "off"}
"""For tests: lost with the machine's power. A commit still outlives the killed server: fault tests
rely on it, and without fsync it costs next to nothing."""

BUILTIN_LOCALE_SINCE = 17
MAX_LOG_BYTES = 10_000_000
POLL_S = 0.02
ORPHAN_POLLS = 1500
"""30 s: an orphan may have a checkpoint to write before it ends."""


class Cluster(Frozen):
    """The database files of one place, and the programs and the user that serve them."""

    place: Place
    account: Account
    programs: Path
    fast: bool = False

    def prepare(self) -> None:
        """Make the files unless they are there, and see that the programs fit them.

        Raises:
            WrongVersionError: another major version made the files.
        """
        ours = major_version(self.programs, self.account)
        data = self.place.data
        if not data.exists():
            self._initialise(ours)
        files = (data / "PG_VERSION").read_text().strip()
        if files != str(ours):
            raise WrongVersionError(data=data, files=files, folder=self.programs, ours=ours)

    def _initialise(self, version: int) -> None:
        """Run initdb beside the final folder, so that a half-made one is never taken for whole."""
        require_a_name(self.account)
        draft = self.place.home / "data.draft"
        if draft.exists():
            shutil.rmtree(draft)
        self.account.own(draft)
        done = self.account.run([self.programs / "initdb", "-D", draft, *self._init_flags(version)])
        if done.returncode != 0:
            raise InitFailedError(data=self.place.data, reason=done.stderr.strip()[-1000:])
        draft.rename(self.place.data)

    def _init_flags(self, version: int) -> list[str]:
        flags = ["-U", SUPERUSER, "-E", "UTF8", "--locale=C.UTF-8", "--no-instructions"]
        flags += ["--auth-local=trust", "--auth-host=scram-sha-256"]
        if version >= BUILTIN_LOCALE_SINCE:
            flags.append("--locale-provider=builtin")
        return [*flags, "--no-sync"] if self.fast else flags

    def clear(self) -> Iterator[float]:
        """End a server that outlived its owner, and forget one that is gone; yields pauses in s.

        Only for the owner of the lock: whoever else runs on these files is an orphan.

        Raises:
            OrphanError: it does not end.
        """
        orphan = self._running()
        if orphan is not None:
            yield from self._end(orphan)
        # A pid that now belongs to a stranger would keep the server from starting.
        (self.place.data / PID_FILE).unlink(missing_ok=True)
        (self.place.sockets / f".s.PGSQL.{PORT}.lock").unlink(missing_ok=True)

    def _end(self, orphan: int) -> Iterator[float]:
        with contextlib.suppress(ProcessLookupError):
            os.kill(orphan, signal.SIGINT)
        for _ in range(ORPHAN_POLLS):
            if self._running() != orphan:
                return
            yield POLL_S
        raise OrphanError(pid=orphan, data=self.place.data)

    def _running(self) -> int | None:
        """The process that serves these files now; a pid alone proves nothing, pids come again."""
        try:
            pid = int((self.place.data / PID_FILE).read_text().split()[0])
        except (FileNotFoundError, IndexError, ValueError):
            return None
        words = b" %b " % _command_line(pid).replace(b"\0", b" ")
        return pid if b" %b " % os.fsencode(self.place.data) in words else None

    def spawn(self) -> subprocess.Popen[bytes]:
        """Start the server as our child in a session of its own, so that Ctrl-C is ours alone."""
        self._turn_the_log()
        self.place.log.touch(mode=0o600)
        command = [sys.executable, "-I", "-S", launch.__file__, str(os.getpid())]
        command += [str(self.account.uid), str(self.account.gid), str(self.programs / "postgres")]
        command += ["-D", str(self.place.data), "-p", str(PORT)]
        for name, value in self._settings().items():
            command += ["-c", f"{name}={value}"]
        with self.place.log.open("ab") as sink:
            return subprocess.Popen(  # noqa: S603 -- a list of our own making, no shell
                command,
                env=ENVIRONMENT,
                cwd="/",
                stdin=subprocess.DEVNULL,
                stdout=sink,
                stderr=sink,
                start_new_session=True,
            )

    def _settings(self) -> Mapping[str, str]:
        quoted = str(self.place.sockets).replace('"', '""')
        extra = FAST_SETTINGS if self.fast else {}
        return {"unix_socket_directories": f'"{quoted}"', **SETTINGS, **extra}

    def _turn_the_log(self) -> None:
        log = self.place.log
        if log.exists() and log.stat().st_size > MAX_LOG_BYTES:
            log.replace(log.with_suffix(".old.log"))

    def log_tail(self) -> str:
        """The last lines the server said."""
        return "\n".join(self.place.log.read_text(errors="replace").splitlines()[-15:])


def answers(programs: Path, sockets: Path) -> bool:
    """Whether a server takes connections there. Asked of the server: a pid would prove nothing."""
    asked = [str(programs / "pg_isready"), "-q", "-h", str(sockets)]
    asked += ["-p", str(PORT), "-U", SUPERUSER]
    done = subprocess.run(asked, env=ENVIRONMENT, stdin=subprocess.DEVNULL, check=False)  # noqa: S603
    return done.returncode == 0


def _command_line(pid: int) -> bytes:
    """The words a process was started with; empty when it is gone or a zombie."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        pass
    asked = ["/bin/ps", "-o", "command=", "-p", str(pid)]  # systems without /proc
    return subprocess.run(asked, capture_output=True, check=False).stdout  # noqa: S603
