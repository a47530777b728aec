"""No secret leaves by the logs."""

import io
import logging
from collections.abc import Iterator

import pytest

from bot.logs import QUIET, set_up_logs
from engine.redact import Redactor


@pytest.fixture
def stream() -> Iterator[io.StringIO]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    levels = {name: logging.getLogger(name).level for name in QUIET}
    written = io.StringIO()
    set_up_logs(Redactor(["hunter2-horse"]), stream=written)
    yield written
    root.handlers[:] = handlers
    root.setLevel(level)
    for name, before in levels.items():
        logging.getLogger(name).setLevel(before)


def test_messages_and_their_arguments_are_masked(stream: io.StringIO) -> None:
    logging.getLogger("caveat.x").info("said %s to %s", "hunter2-horse", {"k": "hunter2-horse"})
    assert stream.getvalue().endswith("INFO caveat.x: said [redacted] to {'k': '[redacted]'}\n")


def test_a_traceback_is_masked_with_its_message(stream: io.StringIO) -> None:
    try:
        int("bad key hunter2-horse")
    except ValueError:
        logging.getLogger("caveat.x").exception("failed", stack_info=True)
    assert "hunter2" not in stream.getvalue()
    assert "bad key [redacted]" in stream.getvalue()


def test_a_message_that_does_not_fit_its_arguments_is_masked_too(stream: io.StringIO) -> None:
    message = "%d of %s"
    logging.getLogger("caveat.x").info(message, "hunter2-horse")
    assert "hunter2" not in stream.getvalue()
    assert "%d of %s" in stream.getvalue()


@pytest.mark.parametrize("name", ["httpx", "httpx2"])
def test_http_libraries_do_not_log_addresses(stream: io.StringIO, name: str) -> None:
    logging.getLogger(name).info("GET https://api.example/bot1:x/getMe")
    logging.getLogger(name).warning("slow")
    assert stream.getvalue().endswith(f"WARNING {name}: slow\n")
    assert "getMe" not in stream.getvalue()
