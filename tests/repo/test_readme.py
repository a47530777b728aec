"""The commands of the first page, run as they stand there."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.real_prometheus import Shop, free_port, sample_shop

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(sys.executable).parent
pytestmark = [pytest.mark.real, pytest.mark.corpus, pytest.mark.timeout(240)]


def commands() -> dict[str, list[str]]:
    """Each `caveat` command of the first code block, by its first word."""
    block = (ROOT / "README.md").read_text().split("```")[1]
    lines = [line.partition("#")[0].strip() for line in block.splitlines()]
    found = [line.split() for line in lines if line.startswith(".venv/bin/caveat")]
    return {words[1]: words[1:] for words in found}


@pytest.fixture(scope="module")
def shop(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    folder = tmp_path_factory.mktemp("shop")
    with sample_shop(folder, shared / "sample", with_alertmanager=True) as running:
        yield running


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the configuration that `caveat init` wrote; the commands after it use it."""
    return tmp_path_factory.mktemp("first-hour")


def environment(home: Path) -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith("CAVEAT_")}
    port = {"CAVEAT_HTTP_PORT": str(PORT), "COLUMNS": "100"}
    return {**kept, **port, "CAVEAT_HOME": str(home / "state")}


PORT = free_port()


def run(words: list[str], home: Path, *, answers: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(BIN / "caveat"), *words],
        cwd=home,
        env=environment(home),
        input=answers,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def test_the_first_page_names_six_commands() -> None:
    assert list(commands()) == ["look", "init", "check", "serve", "link"]
    assert "make drill" in (ROOT / "README.md").read_text().split("```")[1]


def test_look_shows_what_fires(shop: Shop, home: Path) -> None:
    told = {"--prometheus": shop.prometheus_url, "--alertmanager": shop.alertmanager_url or ""}
    words = commands()["look"]
    filled = [told[words[n - 1]] if w == "URL" else w for n, w in enumerate(words)]
    done = run(filled, home)
    assert done.returncode == 0, done.stderr
    assert "CheckoutHighErrorRate" in done.stdout
    assert "Can it wait?" in done.stdout


def test_init_asks_and_writes_what_serve_needs(shop: Shop, home: Path) -> None:
    answers = f"{shop.prometheus_url}\n{shop.alertmanager_url}\nnone\n\n"
    done = run(commands()["init"], home, answers=answers)
    assert done.returncode == 0, done.stderr
    assert (home / ".env").stat().st_mode & 0o777 == 0o600
    assert shop.prometheus_url in (home / "caveat.yaml").read_text()


def test_check_has_a_line_for_every_part(shop: Shop, home: Path) -> None:
    done = run(commands()["check"], home)
    assert done.returncode == 0, done.stdout + done.stderr
    for part in ("database", "prometheus", "alertmanager", "model"):
        assert re.search(rf"[✔○].*{part}", done.stdout), done.stdout


def test_serve_polls_and_stops_cleanly(shop: Shop, home: Path) -> None:
    serving = subprocess.Popen(
        [str(BIN / "caveat"), *commands()["serve"]],
        cwd=home,
        env=environment(home),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        wait_until_ready(serving)
        time.sleep(1)
    finally:
        serving.send_signal(signal.SIGTERM)
        shown, log = serving.communicate(timeout=60)
    assert serving.returncode == 0, log
    assert f"polling {shop.alertmanager_url}" in log
    assert "FIRST CONTACT" in shown
    assert "CheckoutHighErrorRate" in shown


def wait_until_ready(serving: subprocess.Popen[str]) -> None:
    for _ in range(600):
        assert serving.poll() is None, serving.stderr.read() if serving.stderr else ""
        try:
            if httpx.get(f"http://127.0.0.1:{PORT}/readyz", trust_env=False).status_code == 200:
                return
        except httpx.TransportError:
            time.sleep(0.1)
    raise TimeoutError("serve was never ready")


def test_link_prints_a_one_time_code(home: Path) -> None:
    done = run(commands()["link"], home)
    assert done.returncode == 0, done.stderr
    assert re.search(r"\b[\w-]{8,}\b", done.stdout)
