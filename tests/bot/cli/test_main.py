"""The command line as a person meets it: quick, and a line instead of a trace."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.database import open_folder

ROOT = Path(__file__).resolve().parents[3]
HEAVY = ("anthropic", "fastapi", "sqlalchemy", "slack_sdk", "telegram", "pydantic", "httpx")


def caveat(folder: Path, *words: str, **env: str) -> subprocess.CompletedProcess[str]:
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("CAVEAT_", "ANTHROPIC_"))}
    return subprocess.run(
        [sys.executable, "-c", "from bot.cli.main import run; run()", *words],
        cwd=folder,
        env={**clean, "PYTHONPATH": str(ROOT), **env},
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )


def test_help_loads_none_of_the_heavy_libraries() -> None:
    code = f"import sys, bot.cli.main\nprint([m for m in {HEAVY!r} if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout.strip() == "[]"


def cpu_s(folder: Path) -> float:
    before = os.times()
    done = caveat(folder, "--help")
    after = os.times()
    assert done.returncode == 0
    assert "look" in done.stdout
    user_s = after.children_user - before.children_user
    return user_s + after.children_system - before.children_system


def test_help_is_there_at_once(tmp_path: Path) -> None:
    assert min(cpu_s(tmp_path) for _ in range(3)) < 1.5


@pytest.mark.parametrize(
    ("words", "env", "said"),
    [
        (("config", "show"), {"CAVEAT_NONSENSE": "1"}, "CAVEAT_NONSENSE: no such setting"),
        (("config", "show", "--config", "none.yaml"), {}, "no such file"),
        (("look",), {}, "nowhere to look"),
        (("look", "--alertmanager", "http://127.0.0.1:1"), {}, "not reachable"),
        (
            ("people", "list"),
            {"CAVEAT_DATABASE_URL": "postgresql://u:hidden@127.0.0.1:1/x"},
            "the database cannot be used",
        ),
        (("people", "list"), {"CAVEAT_DATABASE_URL": "mysql://x"}, "must read postgresql://"),
    ],
)
def test_what_a_person_can_put_right_is_a_line_and_status_2(
    tmp_path: Path, words: tuple[str, ...], env: dict[str, str], said: str
) -> None:
    done = caveat(tmp_path, *words, CAVEAT_HOME=str(tmp_path / "home"), **env)
    assert done.returncode == 2, done.stderr
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert "hidden" not in done.stderr


def test_config_show_masks_secrets(tmp_path: Path) -> None:
    done = caveat(tmp_path, "config", "show", CAVEAT_SLACK_BOT_TOKEN="xoxb-very-secret-1")
    assert done.returncode == 0, done.stderr
    assert "xoxb-very-secret-1" not in done.stdout
    assert "bot_token: '**********'" in done.stdout


def test_config_defaults_lists_every_key(tmp_path: Path) -> None:
    done = caveat(tmp_path, "config", "--defaults")
    assert "triage.deadline: 5m\n" in done.stdout
    assert "rooms[].topic: none" in done.stdout


@pytest.fixture
def home() -> Iterator[Path]:
    made = open_folder()
    yield made
    shutil.rmtree(made)


def test_the_whole_of_link_and_people_on_an_embedded_database(tmp_path: Path, home: Path) -> None:
    linked = caveat(tmp_path, "link", "--name", "ada", CAVEAT_HOME=str(home))
    assert linked.returncode == 0, linked.stderr
    code, how = linked.stdout.splitlines()
    assert f"/caveat link {code}" in how
    assert caveat(tmp_path, "people", "add", "bob", CAVEAT_HOME=str(home)).returncode == 0
    listed = caveat(tmp_path, "people", "list", CAVEAT_HOME=str(home))
    assert listed.stdout.splitlines() == [
        "ada  no account  admin (*)",
        "bob  no account  no role",
    ]


def test_the_whole_life_of_an_api_token_on_an_embedded_database(tmp_path: Path, home: Path) -> None:
    def token(*words: str) -> str:
        done = caveat(tmp_path, "token", *words, CAVEAT_HOME=str(home))
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    secret = token("add", "dashboard", "--scope", "read")
    assert len(secret) >= 43
    assert "dashboard  service  read  every client  until " in token("list")
    assert secret not in token("list")
    assert token("revoke", "dashboard") == "dashboard opens nothing any more"
    assert "dashboard  service  read  every client  revoked " in token("list")
    refused = caveat(tmp_path, "token", "add", "x", "--scope", "all", CAVEAT_HOME=str(home))
    assert refused.returncode == 2
    assert "no scope 'all'; there are" in refused.stderr
