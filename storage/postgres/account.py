"""The user PostgreSQL runs as: ourselves, or an unprivileged one when we are root."""

import os
import pwd
import subprocess
from collections.abc import Sequence
from pathlib import Path

from engine.model.base import Frozen
from storage.postgres.errors import ForeignFilesError, NamelessAccountError, NoAccountError

ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "TZ": "UTC"}
"""All that PostgreSQL's programs see of the environment."""


class Account(Frozen):
    """A user of the system, and whether we must turn into it."""

    uid: int
    gid: int
    drops: bool
    """True when we are root: every program of PostgreSQL then starts as this user."""

    def run(self, command: Sequence[str | Path]) -> subprocess.CompletedProcess[str]:
        """Run a program to its end as this user, outside any folder of ours."""
        return subprocess.run(  # noqa: S603 -- a list of our own making, no shell
            command,
            user=self.uid if self.drops else None,
            group=self.gid if self.drops else None,
            extra_groups=[] if self.drops else None,
            env=ENVIRONMENT,
            cwd="/",
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )

    def reaches(self, folder: Path) -> bool:
        """Whether this user can enter the folder; asked of the system, so ACLs count too."""
        return self.run(["/bin/sh", "-c", 'cd -- "$1"', "sh", folder]).returncode == 0

    def own(self, folder: Path) -> None:
        """Make a folder that this user alone can enter."""
        folder.mkdir(mode=0o700, exist_ok=True)
        folder.chmod(0o700)
        if self.drops:
            os.chown(folder, self.uid, self.gid)


def account_for(data: Path, run_as: str) -> Account:
    """Choose the user: who owns the database files, else `run_as` for root, else ourselves.

    Raises:
        NoAccountError: we are root and there is no user `run_as`.
        ForeignFilesError: we are not root and the files are another user's.
    """
    found = data.stat() if data.is_dir() else None
    uid = os.geteuid()
    if uid != 0:
        if found and found.st_uid != uid:
            raise ForeignFilesError(data=data, owner=found.st_uid, uid=uid)
        return Account(uid=uid, gid=os.getegid(), drops=False)
    if found and found.st_uid != 0:
        return Account(uid=found.st_uid, gid=found.st_gid, drops=True)
    try:
        entry = pwd.getpwnam(run_as)
    except KeyError:
        raise NoAccountError(name=run_as) from None
    return Account(uid=entry.pw_uid, gid=entry.pw_gid, drops=True)


def require_a_name(account: Account) -> None:
    """Refuse a user id without a name, before initdb does so less clearly.

    Raises:
        NamelessAccountError: there is no such entry, as on platforms that choose the id.
    """
    try:
        pwd.getpwuid(account.uid)
    except KeyError:
        raise NamelessAccountError(uid=account.uid) from None
