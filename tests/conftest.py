"""What every test shares: the corpora, the real components, and the count of what did not run."""

import os
import shutil
from pathlib import Path

import pytest

pytest_plugins = ["tests.database"]

SHARED = Path(__file__).resolve().parents[2] / "shared"
NOT_RUN = "not run: "
COMPONENTS = ("prometheus", "prometheus-alertmanager")
"""What a test marked `real` needs unless it names others."""


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of corpora beside the checkout; tests that need it are skipped without it."""
    if not (SHARED / "data").is_dir():
        pytest.skip("no corpora beside this checkout (../shared)")
    return SHARED


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Leave a test out, and say so, when a real component it needs is not installed."""
    for mark in item.iter_markers("real"):
        missing = [name for name in mark.args or COMPONENTS if shutil.which(name) is None]
        if missing:
            pytest.skip(NOT_RUN + ", ".join(missing))


def not_run(config: pytest.Config) -> int:
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    skipped = reporter.stats.get("skipped", []) if reporter else []
    return sum(NOT_RUN in str(report.longrepr) for report in skipped)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail where it was promised that everything runs."""
    if not_run(session.config) and os.environ.get("CAVEAT_NOT_RUN_FAILS"):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    count = not_run(terminalreporter.config)
    if count:
        terminalreporter.write_line(f"{count} tests were not run: a real component is missing")
