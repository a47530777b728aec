"""Every body of Alertmanager's that anybody published is read, or refused with a reason."""

import json
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bot.sources.source import UnreadableError
from bot.sources.table import SOURCES

NOW = datetime(2026, 11, 30, 22, 0, tzinfo=UTC)

pytestmark = pytest.mark.corpus


def said(file: Path) -> str:
    """What came of a file in one word or a reason."""
    try:
        parsed = SOURCES["alertmanager"].parse(file.read_bytes(), NOW)
    except UnreadableError as error:
        return error.reason
    assert parsed.alerts or parsed.refused
    assert not parsed.refused
    assert all(alert.starts_at <= NOW for alert in parsed.alerts)
    json.loads(parsed.canonical())
    return "read"


def test_every_body_gives_alerts_or_a_reason(shared: Path) -> None:
    found = {file.name: said(file) for file in (shared / "data/alerts/alertmanager").iterdir()}
    refused = {name: reason for name, reason in found.items() if reason != "read"}
    assert len(found) >= 20
    assert {name.split(".")[0] for name in refused} <= {"02", "05", "06", "10", "11", "28", "29"}
    assert all(reason.endswith(".") for reason in refused.values())


def test_a_body_of_another_sender_never_breaks_it(shared: Path) -> None:
    files = [file for file in (shared / "data/alerts").glob("*/*") if file.is_file()]
    for file in files:
        with suppress(UnreadableError):
            assert SOURCES["alertmanager"].parse(file.read_bytes(), NOW).canonical()
