"""What a sender's body would come to, a line an alert."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from bot.cli.try_source import run_source

NOW = datetime(2026, 11, 30, 20, 0, tzinfo=UTC)
ROW = {
    "status": "firing",
    "labels": {"alertname": "X", "severity": "page"},
    "annotations": {"summary": "s"},
    "startsAt": "2026-11-30T19:00:00Z",
    "fingerprint": "abc",
}


def lines(name: str, *files: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in run_source(name, files, NOW)]


def kept(folder: Path, *rows: Any) -> Path:
    file = folder / "body.json"
    file.write_text(json.dumps({"version": "4", "alerts": rows}))
    return file


def test_an_alert_is_a_line_with_every_field(tmp_path: Path) -> None:
    (line,) = lines("alertmanager", kept(tmp_path, ROW))
    assert line.pop("fingerprint")
    assert line == {
        "source": "alertmanager",
        "status": "firing",
        "severity": "critical",
        "source_fingerprint": "abc",
        "labels": {"alertname": "X", "severity": "page"},
        "annotations": {"summary": "s"},
        "starts_at": "2026-11-30T19:00:00Z",
        "ends_at": None,
    }


def test_a_bad_alert_is_an_error_beside_the_good_ones(tmp_path: Path) -> None:
    good, bad, other = lines("alertmanager", kept(tmp_path, ROW, {}), kept(tmp_path, ROW, {}))[:3]
    assert "error" not in good
    assert bad["error"] == "The alert has no labels."
    assert "error" not in other


def test_a_body_of_no_use_is_one_line_with_its_reason(tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    broken.write_bytes(b"{")
    first, second = lines("alertmanager", broken, tmp_path / "missing")
    assert "not JSON" in first["error"]
    assert first["http_status"] == 400
    assert "No such file" in second["error"]


def test_an_unknown_source_is_told_the_known_ones(tmp_path: Path) -> None:
    (line,) = lines("nagios", kept(tmp_path, ROW))
    assert "'nagios'" in line["error"]
    assert "alertmanager" in line["error"]


@pytest.mark.corpus
def test_every_published_body_prints_alerts_or_an_error(shared: Path) -> None:
    files = sorted((shared / "data/alerts/alertmanager").iterdir())
    for file in files:
        printed = lines("alertmanager", file)
        assert printed
        assert all("error" in line or line["labels"] for line in printed)
