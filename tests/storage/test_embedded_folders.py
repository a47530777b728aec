"""Where the embedded PostgreSQL keeps its files, which programs it runs, and as whom."""

import os
import pwd
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from storage.embedded import EmbeddedPostgres
from storage.postgres import errors
from storage.postgres.account import Account
from storage.postgres.place import recorded_place, settle
from storage.postgres.programs import find_programs, vector_supported
from tests.storage.postgres_app import SYSTEM_PYTHON, App
from tests.storage.postgres_state import execute, kept, running, value

REPO = Path(__file__).parents[2]
AS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root drops to another user")


@AS_ROOT
def test_root_keeps_the_files_of_a_closed_state_folder_in_a_shelter(folder: Path) -> None:
    shelter = folder / "shelter"
    closed = folder / 'closed "1"'
    closed.mkdir(mode=0o700)
    with running(closed / "state", shelter=shelter) as server:
        execute(server.dsn(), "create table t as select 7 as n")
        with running(closed / "state", shelter=shelter) as attached:
            assert not attached.owner
            assert value(attached.dsn(), "select n from t") == 7
    assert closed.stat().st_mode & 0o777 == 0o700
    with running(closed / "state", shelter=shelter) as server:
        assert value(server.dsn(), "select n from t") == 7
    moved = (closed / "state").rename(closed / "moved")
    with pytest.raises(errors.MovedFolderError, match="moved or copied"), running(moved):
        pass
    moved.rename(closed / "state")
    shutil.rmtree(shelter)
    with pytest.raises(errors.LostFilesError, match="is gone"), running(closed / "state"):
        pass


@AS_ROOT
def test_root_shelters_a_path_that_a_copy_of_the_programs_could_not_run_in(folder: Path) -> None:
    odd = folder / 'an "open" folder'
    odd.mkdir()
    place, _ = settle(odd, "nobody", folder / "shelter")
    assert place.home.parent == folder / "shelter"
    assert recorded_place(odd) == place


@AS_ROOT
def test_root_says_so_when_existing_files_are_behind_a_closed_folder(
    own: Path, folder: Path
) -> None:
    folder.chmod(0o700)
    with pytest.raises(errors.ClosedFolderError, match=str(own)), running(own):
        pass


@AS_ROOT
def test_root_copies_programs_that_its_user_cannot_reach(own: Path, folder: Path) -> None:
    found = find_programs()
    package, prefix = found.parent.parent, found.parent
    hidden = folder / "hidden"
    hidden.mkdir()
    skipped = shutil.ignore_patterns("include")
    shutil.copytree(prefix, hidden / package.name / prefix.name, symlinks=True, ignore=skipped)
    libraries = package.with_name(f"{package.name}.libs")
    if libraries.is_dir():
        shutil.copytree(libraries, hidden / libraries.name)
    hidden.chmod(0o700)
    (own / "programs-outdated").mkdir()
    programs = hidden / package.name / prefix.name / "bin"
    with running(own, programs=programs) as server:
        assert kept(server.dsn()) == 42
        served_from = Path(f"/proc/{server.pid}/exe").readlink()
    assert served_from.is_relative_to(own)
    assert len(list(own.glob("programs-*"))) == 1
    assert hidden.stat().st_mode & 0o777 == 0o700


@AS_ROOT
def test_an_ordinary_user_starts_its_own(folder: Path, apps: Callable[..., App]) -> None:
    user = pwd.getpwnam("nobody")
    account = Account(uid=user.pw_uid, gid=user.pw_gid, drops=True)
    if not account.reaches(REPO) or not Path(SYSTEM_PYTHON).exists():
        pytest.skip("this checkout is closed to other users, or the system has no Python")
    os.chown(folder, user.pw_uid, user.pw_gid)
    app = apps(folder / "a b", user.pw_uid).listen()
    assert app.owner
    assert value(app.dsn, "select 1") == 1
    assert (folder / "a b").stat().st_mode & 0o777 == 0o700


@AS_ROOT
def test_root_serves_files_as_the_user_who_made_them(own: Path) -> None:
    daemon = pwd.getpwnam("daemon")
    for path in [own / "data", *(own / "data").rglob("*")]:
        os.chown(path, daemon.pw_uid, daemon.pw_gid, follow_symlinks=False)
    with running(own) as server:
        assert kept(server.dsn()) == 42
        assert Path(f"/proc/{server.pid}").stat().st_uid == daemon.pw_uid


@AS_ROOT
def test_root_without_a_user_to_drop_to_says_how_to_make_one(folder: Path) -> None:
    missing = running(folder / "state", run_as="no-such-user")
    with pytest.raises(errors.NoAccountError, match="useradd --system no-such-user"), missing:
        pass


def test_a_chosen_program_folder_must_be_complete(folder: Path) -> None:
    with pytest.raises(errors.NoProgramsError, match="CAVEAT_PG_BIN"):
        EmbeddedPostgres(folder, programs=folder)


@pytest.mark.parametrize(
    ("flags", "machine_can", "word"),
    [
        ("fpu avx avx2 bmi1 bmi2 fma", True, ""),
        ("fpu avx bmi1 bmi2 fma", False, "lacks avx2,"),
        ("fpu sse2", False, "lacks avx2, bmi2, fma,"),
    ],
)
@pytest.mark.skipif(os.uname().machine != "x86_64", reason="the flags are of x86-64")
def test_vector_needs_what_it_was_compiled_for(
    tmp_path: Path, flags: str, machine_can: bool, word: str
) -> None:
    cpuinfo = tmp_path / "cpuinfo"
    cpuinfo.write_text(f"processor\t: 0\nflags\t\t: {flags}\nbugs\t\t:\n")
    supported, reason = vector_supported(cpuinfo)
    assert supported is machine_can
    assert word in reason
