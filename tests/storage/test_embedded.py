"""The embedded PostgreSQL, on real servers: its starts, its owners, its deaths, its databases."""

import asyncio
import fcntl
import os
import shutil
import signal
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import create_async_engine

from storage.embedded import EmbeddedPostgres, pause_before
from storage.postgres import errors
from storage.postgres.cluster import POLL_S
from tests.database import FreshDatabase
from tests.storage.postgres_app import WAIT_S, App
from tests.storage.postgres_state import (
    answers,
    copied,
    eventually,
    execute,
    gone,
    kept,
    running,
    value,
)

# --- a start, and another one ---


async def test_an_odd_path_starts_cold_over_a_half_made_try_and_then_warm(folder: Path) -> None:
    quotes = "'" if os.geteuid() == 0 else "'\""  # root would shelter a path with double quotes
    root = folder / f"état d{quotes}astreinte 1+1"
    half_made = root / "data.draft"
    half_made.mkdir(parents=True)
    (half_made / "PG_VERSION").write_text("18\n")
    with running(root) as server:
        assert server.owner
        execute(server.dsn(), "create table t as select 7 as n")
    with running(root) as server:
        engine = create_async_engine(server.url())
        async with engine.connect() as connection:
            assert (await connection.execute(text("select n from t"))).scalar() == 7
        await engine.dispose()


def test_a_path_too_long_for_a_socket_keeps_it_in_a_short_private_folder(
    root: Path, folder: Path
) -> None:
    deep = folder / ("d" * 60) / ("e" * 60)
    deep.mkdir(parents=True)
    long = copied(root, deep / "state")
    with running(long) as server:
        sockets = Path(psycopg.conninfo.conninfo_to_dict(server.dsn())["host"])
        assert kept(server.dsn()) == 42
        assert len(str(sockets)) < 90
        assert sockets.stat().st_mode & 0o777 == 0o700
    shutil.rmtree(sockets)
    sockets.mkdir(mode=0o755)  # what somebody else may have put there
    with pytest.raises(errors.SquattedSocketError, match=str(sockets)), running(long):
        pass
    sockets.rmdir()


def test_settings_are_those_of_a_small_durable_server_unless_it_is_fast(root: Path) -> None:
    with running(root, fast=False) as server:
        shown = {
            name: value(server.dsn(), f"show {name}")
            for name in ("dynamic_shared_memory_type", "max_connections", "fsync", "jit")
        }
    assert shown == {
        "dynamic_shared_memory_type": "mmap",
        "max_connections": "60",
        "fsync": "on",
        "jit": "off",
    }
    with running(root) as server:
        assert value(server.dsn(), "show fsync") == "off"


def test_a_thread_that_may_end_cannot_start_it(root: Path) -> None:
    caught: list[Exception] = []

    def begin() -> None:
        try:
            EmbeddedPostgres(root).start()
        except errors.WrongThreadError as error:
            caught.append(error)

    thread = threading.Thread(target=begin)
    thread.start()
    thread.join()
    assert len(caught) == 1


def test_a_server_that_cannot_start_says_what_its_log_says(own: Path) -> None:
    with (own / "data/postgresql.conf").open("a") as settings:
        settings.write("no_such_setting = 1\n")
    with pytest.raises(errors.DidNotStartError, match="no_such_setting"), running(own):
        pass


def test_files_of_another_major_version_are_not_touched(own: Path) -> None:
    (own / "data/PG_VERSION").write_text("15\n")
    with pytest.raises(errors.WrongVersionError, match="PostgreSQL 15"), running(own):
        pass


# --- several processes ---


def test_of_four_processes_started_at_once_one_owns_and_three_attach(
    root: Path, apps: Callable[..., App]
) -> None:
    started = [apps(root) for _ in range(4)]
    assert sorted(app.listen().owner for app in started) == [False, False, False, True]
    assert [kept(app.dsn) for app in started] == [42] * 4


def test_an_attached_process_takes_over_when_the_owner_is_killed(
    root: Path, apps: Callable[..., App]
) -> None:
    first = apps(root).listen()
    second = apps(root).listen()
    assert (first.owner, second.owner) == (True, False)
    known = second.dsn
    first.process.kill()
    assert second.listen().owner
    assert second.pid != first.pid
    assert second.dsn == known
    assert eventually(lambda: answers(known))
    assert kept(known) == 42


def test_an_attached_process_leaves_the_server_running(root: Path) -> None:
    with running(root) as owner:
        with running(root) as attached:
            assert not attached.owner
        assert kept(owner.dsn()) == 42


def test_an_owner_that_never_gets_ready_is_not_waited_for_for_ever(folder: Path) -> None:
    with (folder / "owner.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(errors.TooSlowError, match=r"0\.1 s"), running(folder, timeout_s=0.1):
            pass


# --- deaths ---


def test_a_killed_application_leaves_no_server(root: Path, apps: Callable[..., App]) -> None:
    app = apps(root).listen()
    assert not gone(app.pid)
    app.process.kill()
    assert eventually(lambda: gone(app.pid))


def test_a_terminated_application_stops_its_server_first(
    root: Path, apps: Callable[..., App]
) -> None:
    app = apps(root).listen()
    app.process.terminate()
    app.process.join(WAIT_S)
    assert app.process.exitcode == 0
    assert gone(app.pid)


async def test_a_killed_server_is_restarted_with_every_committed_row(root: Path) -> None:
    with running(root) as server:
        watching = asyncio.create_task(server.supervise())
        execute(server.dsn(), "create table written (n int)")
        for n in range(2):
            execute(server.dsn(), f"insert into written values ({n})")
            killed = server.pid
            assert killed is not None
            os.kill(killed, signal.SIGKILL)
            async with asyncio.timeout(WAIT_S):
                while server.pid == killed or not answers(server.dsn()):
                    await asyncio.sleep(0.02)
        assert value(server.dsn(), "select count(*) from written") == 2
        server.stop()
        await watching


async def test_a_stop_in_the_middle_of_a_restart_leaves_no_server(root: Path) -> None:
    with running(root) as server:
        os.kill(server.pid or 0, signal.SIGKILL)

        async def stop_midway(pause_s: float) -> None:
            if pause_s == POLL_S:
                server.stop()
            await asyncio.sleep(pause_s)

        async with asyncio.timeout(WAIT_S):
            await server.supervise(stop_midway)
        assert (server.owner, server.pid) == (False, None)
        with running(root) as again:
            assert again.owner


def test_a_ctrl_c_reaches_the_application_alone(root: Path) -> None:
    with running(root) as server:
        assert os.getsid(server.pid or 0) == server.pid


def test_the_pauses_between_restarts_grow_to_half_a_minute() -> None:
    assert [pause_before(n) for n in (0, 1, 2, 3)] == [0.0, 0.2, 0.4, 0.8]
    assert pause_before(50) == 30.0


def test_after_everything_was_killed_it_starts_with_its_rows(
    root: Path, apps: Callable[..., App]
) -> None:
    app = apps(root).listen()
    execute(app.dsn, "create table last_words as select 43 as n")
    os.kill(app.pid, signal.SIGKILL)
    app.process.kill()
    app.process.join()
    with running(root) as server:
        assert value(server.dsn(), "select n from last_words") == 43


def test_a_pid_that_now_belongs_to_a_stranger_does_not_keep_it_from_starting(root: Path) -> None:
    with running(root):
        pass
    owner = (root / "data").stat()
    who = {"user": owner.st_uid, "group": owner.st_gid} if os.geteuid() == 0 else {}
    stranger = subprocess.Popen(["/bin/sleep", "30"], **who)  # type: ignore[call-overload]
    try:
        for lock in (root / "data/postmaster.pid", root / "run/.s.PGSQL.5432.lock"):
            lock.write_text(f"{stranger.pid}\n{root}/data\n1\n5432\n{root}/run\n\n")
            os.chown(lock, owner.st_uid, owner.st_gid)
        with running(root) as server:
            assert kept(server.dsn()) == 42
        assert stranger.poll() is None
    finally:
        stranger.kill()
        stranger.wait()


def test_a_server_that_outlived_its_owner_is_ended_and_replaced(root: Path) -> None:
    with running(root) as left:
        left._lock.close()  # type: ignore[union-attr]
        with running(root) as server:
            assert server.owner
            assert server.pid != left.pid
            assert kept(server.dsn()) == 42


# --- databases ---


async def test_a_database_is_made_once_however_often_it_is_asked_for(
    postgres: EmbeddedPostgres,
) -> None:
    urls = await asyncio.gather(*(postgres.ensure_database("wan'ted") for _ in range(4)))
    assert len(set(urls)) == 1
    count = value(postgres.dsn(), "select count(*) from pg_database where datname = 'wan''ted'")
    assert count == 1
    await postgres.drop_database("wan'ted")


async def test_a_fresh_database_copies_its_template(
    postgres: EmbeddedPostgres, fresh_database: FreshDatabase
) -> None:
    await postgres.ensure_database("a_template")
    execute(postgres.dsn("a_template"), "create table t as select 7 as n")
    urls = [await fresh_database("a_template") for _ in range(2)]
    dsns = [url.replace("+psycopg", "") for url in urls]
    execute(dsns[0], "update t set n = 8")
    assert [value(dsn, "select n from t") for dsn in dsns] == [8, 7]
    await postgres.drop_database("a_template")
