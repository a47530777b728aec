"""State folders with a PostgreSQL in them, and applications that use one."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.database import open_folder
from tests.storage.postgres_app import App, launch
from tests.storage.postgres_state import copied, eventually, execute, gone, running


@pytest.fixture
def folder() -> Iterator[Path]:
    made = open_folder()
    yield made
    shutil.rmtree(made)


@pytest.fixture(scope="module")
def root() -> Iterator[Path]:
    """A state folder with one row, stopped; tests start it in turn and leave it whole."""
    made = open_folder()
    with running(made / "state") as server:
        execute(server.dsn(), "create table kept as select 42 as n")
    yield made / "state"
    shutil.rmtree(made)


@pytest.fixture
def own(root: Path, folder: Path) -> Path:
    """A copy of that folder, for a test that damages it."""
    return copied(root, folder / "state")


@pytest.fixture
def apps() -> Iterator[Callable[..., App]]:
    """Starts applications on a state folder, and ends what the test left of them."""
    started: list[App] = []

    def start(*how: object) -> App:
        started.append(launch(*how))  # type: ignore[arg-type]
        return started[-1]

    yield start
    for app in started:
        app.end()
    assert eventually(lambda: all(gone(app.pid) for app in started if app.pid))
