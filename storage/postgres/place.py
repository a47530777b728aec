"""Where the database files and the socket of one state folder lie."""

import logging
import os
import stat
import tempfile
from pathlib import Path

from pydantic import ValidationError

from engine.model.base import Frozen, digest
from storage.postgres.account import Account, account_for
from storage.postgres.errors import (
    BrokenRecordError,
    ClosedFolderError,
    LostFilesError,
    MovedFolderError,
    SquattedSocketError,
)

log = logging.getLogger(__name__)

RECORD = "postgres.json"
SHELTER = Path("/var/lib/caveat")
"""Where root keeps the files of a state folder that the unprivileged user cannot work in."""
MAX_SOCKET_BYTES = 103
"""The longest socket path every system takes: macOS has 104 with the closing zero, Linux 108."""


class Place(Frozen):
    """The folders of one server; written beside the lock, so that other processes find them."""

    root: Path
    """The state folder it was written for: tells a moved or copied one."""
    home: Path
    """Holds the files, the log and, where needed, a copy of the programs; mostly the root."""
    sockets: Path
    """Holds the socket and nothing else; 0700, for it is the only lock on the door."""

    @property
    def data(self) -> Path:
        """The database files."""
        return self.home / "data"

    @property
    def log(self) -> Path:
        """What the server said, the newest last."""
        return self.home / "postgres.log"


def recorded_place(root: Path) -> Place | None:
    """Read where an owner of this state folder put things; None before there was one.

    Raises:
        BrokenRecordError: the record is there and cannot be read.
        MovedFolderError: it came from elsewhere, and its files lie outside of it.
    """
    record = root / RECORD
    try:
        place = Place.model_validate_json(record.read_bytes())
    except FileNotFoundError:
        return None
    except ValidationError as error:
        reason = error.errors()[0]["msg"]
        raise BrokenRecordError(record=record, reason=reason) from error
    if place.root == root:
        return place
    if place.home == place.root:  # the files came along
        return None
    raise MovedFolderError(root=root, record=record, was=place.root, home=place.home)


def settle(root: Path, run_as: str, shelter: Path) -> tuple[Place, Account]:
    """Choose the folders, make them and write them down; for the owner of the lock only."""
    before = recorded_place(root)
    home = before.home if before else root
    if not home.is_dir():
        raise LostFilesError(record=root / RECORD, home=home)
    account = account_for(home / "data", run_as)
    settled = before is not None or (home / "data").exists()
    reached = account.reaches(home)
    if settled and not reached:
        raise ClosedFolderError(uid=account.uid, folder=home)
    if not settled and not (reached and (_plain(home) or not account.drops)):
        home = _sheltered_home(root, shelter, account)
    sockets = _socket_folder(home, before, account)
    place = Place(root=root, home=home, sockets=sockets)
    _write(root / RECORD, place)
    return place, account


def _sheltered_home(root: Path, shelter: Path, account: Account) -> Path:
    """Make a new folder of ours that the account can reach, away from the state folder."""
    prefix = f"caveat-{digest(str(root), 12)}-"
    try:
        shelter.mkdir(mode=0o755, parents=True, exist_ok=True)
    except OSError:  # a read-only system
        shelter = Path(tempfile.gettempdir())
    for older in shelter.glob(f"{prefix}*"):
        log.warning("%s holds older database files of %s; delete it if unneeded", older, root)
    home = Path(tempfile.mkdtemp(prefix=prefix, dir=shelter))
    home.chmod(0o711)
    if not account.reaches(home):
        home.rmdir()
        raise ClosedFolderError(uid=account.uid, folder=home)
    log.info("the user PostgreSQL runs as cannot work in %s: its files are in %s", root, home)
    return home


def _socket_folder(home: Path, before: Place | None, account: Account) -> Path:
    """Prefer the folder clients know from before, then the home, then a short one."""
    short = f"caveat-{account.uid}-{digest(str(home), 12)}"
    temporary = [Path(tempfile.gettempdir()) / short, Path("/tmp") / short]  # noqa: S108 -- 0700, owner checked
    known = [before.sockets] if before else []
    for folder in [*known, home / "run", *temporary]:
        if fits_a_socket(folder) and account.reaches(folder.parent):
            shared = folder.parent != home
            if shared and os.path.lexists(folder) and not private(folder, account.uid):
                raise SquattedSocketError(folder=folder)
            account.own(folder)
            return folder
    raise ClosedFolderError(uid=account.uid, folder=temporary[-1])


def _plain(home: Path) -> bool:
    """Whether initdb could run from a copy of the programs in it: it passes its path to a shell."""
    return not set('"$`\\\n') & set(str(home))


def fits_a_socket(folder: Path) -> bool:
    """Whether a socket in it has a path the system takes and clients read as one host."""
    return len(os.fsencode(folder / ".s.PGSQL.5432")) <= MAX_SOCKET_BYTES and "," not in str(folder)


def private(folder: Path, uid: int) -> bool:
    """Whether it is a real folder of that user (or ours) which nobody else can enter."""
    found = folder.lstat()
    ours = found.st_uid in {uid, os.geteuid()}
    return stat.S_ISDIR(found.st_mode) and ours and not found.st_mode & 0o077


def _write(record: Path, place: Place) -> None:
    draft = record.with_suffix(".new")
    draft.write_text(place.model_dump_json())
    draft.replace(record)
