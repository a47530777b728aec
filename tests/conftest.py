"""What every test shares: the corpora, the proof marker, the loopback rule."""

from pathlib import Path

import pytest

pytest_plugins = ["tests.database"]

SHARED = Path(__file__).resolve().parents[2] / "shared"


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of corpora beside the checkout; tests that need it are skipped without it."""
    if not (SHARED / "data").is_dir():
        pytest.skip("no corpora beside this checkout (../shared)")
    return SHARED
