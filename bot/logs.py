"""Logs without secrets: one filter on the way out, and quiet libraries that would print them."""

import logging
import sys
from typing import TextIO

from typing_extensions import override

from engine.redact import Redactor

QUIET = ("httpx", "httpx2", "httpcore", "telegram", "slack_sdk", "slack_bolt", "apscheduler")
"""They log addresses with tokens in them, or every request, at INFO."""


class RedactingFilter(logging.Filter):
    """Masks the message of every record, and the traceback with it."""

    def __init__(self, redactor: Redactor) -> None:
        """Take what knows the secrets."""
        super().__init__()
        self.redactor = redactor

    @override
    def filter(self, record: logging.LogRecord) -> bool:
        """Rewrite the record in place; never drops one."""
        record.msg = self.redactor.text(_message(record))
        record.args = None
        if record.exc_info:
            record.exc_text = logging.Formatter().formatException(record.exc_info)
        if record.exc_text:
            record.exc_text = self.redactor.text(record.exc_text)
        if record.stack_info:
            record.stack_info = self.redactor.text(record.stack_info)
        return True


def _message(record: logging.LogRecord) -> str:
    try:
        return record.getMessage()
    except (TypeError, ValueError):
        return f"{record.msg} {record.args}"


def set_up_logs(redactor: Redactor, level: str = "INFO", stream: TextIO | None = None) -> None:
    """Send every log through the filter to one stream; standard error unless told otherwise."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    handler.addFilter(RedactingFilter(redactor))
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    for name in QUIET:
        logging.getLogger(name).setLevel(logging.WARNING)
