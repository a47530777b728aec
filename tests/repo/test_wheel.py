"""The wheel, installed into an environment of its own."""

import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh environment with the wheel, and our dependencies lent to it."""
    folder = tmp_path_factory.mktemp("wheel")
    run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)])
    (wheel,) = folder.glob("*.whl")
    run([sys.executable, "-m", "venv", "--without-pip", str(folder / "env")])
    own = folder / "env" / "lib" / "python3.11" / "site-packages"
    lent = sysconfig.get_paths()["purelib"]
    uv = Path(sys.executable).with_name("uv")
    python = folder / "env" / "bin" / "python"
    run(
        [
            str(uv),
            "pip",
            "install",
            "-q",
            "--no-deps",
            "--offline",
            "--python",
            str(python),
            str(wheel),
        ]
    )
    # Only the folder of dependencies: the checkout's own path file there is not read.
    (own / "lent.pth").write_text(f"import sys; sys.path.append({lent!r})\n")
    return python


def run(command: list[str], cwd: Path = ROOT) -> str:
    done = subprocess.run(
        command, cwd=cwd, capture_output=True, text=True, check=False, timeout=100
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_command_starts(python: Path, tmp_path: Path) -> None:
    said = run([str(python.with_name("caveat")), "--help"], tmp_path)
    for command in ("drill", "look", "init", "check", "serve", "link", "people", "client", "try"):
        assert command in said


def test_the_wheel_carries_the_migrations_and_leaves_the_library_alone(
    python: Path, tmp_path: Path
) -> None:
    code = (
        "import alembic, storage.migrate as m, pathlib;"
        "print(m.migrations()); print(alembic.__file__);"
        "print(sorted(p.name for p in (m.migrations() / 'versions').glob('*.py')))"
    )
    where, library, versions = run([str(python), "-c", code], tmp_path).splitlines()
    assert where.endswith("site-packages/storage/migrations")
    assert "site-packages/alembic/__init__.py" in library
    assert "0001" in versions


def test_prompts_and_manifests_are_in_the_wheel(python: Path, tmp_path: Path) -> None:
    said = run([str(python.with_name("caveat")), "config", "--defaults"], tmp_path)
    assert "triage.verification.enabled" in said
    code = "import bot, engine; print(bot.__path__[0]); print(engine.__path__[0])"
    bot, engine = (Path(line) for line in run([str(python), "-c", code], tmp_path).splitlines())
    assert not bot.is_relative_to(ROOT / "bot")
    for pattern, installed, ours in (
        ("prompts/*.md", engine, ROOT / "engine"),
        ("chats/slack/manifests/*.yaml", bot, ROOT / "bot"),
    ):
        names = sorted(path.name for path in ours.glob(pattern))
        assert names
        assert sorted(path.name for path in installed.glob(pattern)) == names
