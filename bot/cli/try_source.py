"""What `caveat try` prints: how a sender's bodies would be read, without sending them."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from bot.sources.source import AlertSource, Parsed, UnreadableError
from bot.sources.table import SOURCES
from engine.model.alert import Alert
from engine.model.base import canonical_json

_SHOWN = (
    "source",
    "status",
    "severity",
    "source_fingerprint",
    "labels",
    "annotations",
    "starts_at",
    "ends_at",
)


def run_source(name: str, files: Sequence[Path], received_at: datetime) -> Iterator[str]:
    """Read each file as a body of this source: a JSON line an alert, or one that says `error`."""
    source = SOURCES.get(name)
    if source is None:
        yield _error(name, f"There is no source {name!r}. Known: {', '.join(sorted(SOURCES))}.")
        return
    for file in files:
        yield from _lines(source, file, received_at)


def _lines(source: AlertSource, file: Path, received_at: datetime) -> Iterator[str]:
    try:
        parsed = source.parse(file.read_bytes(), received_at)
    except UnreadableError as error:
        yield _error(source.name, error.reason, file=str(file), http_status=error.status)
    except OSError as error:
        yield _error(source.name, f"Cannot read the file: {error.strerror}.", file=str(file))
    else:
        yield from _said(source, parsed, file)


def _said(source: AlertSource, parsed: Parsed, file: Path) -> Iterator[str]:
    yield from (_alert(alert) for alert in parsed.alerts)
    for refused in parsed.refused:
        yield _error(source.name, refused.reason, file=str(file), text=refused.text)


def _alert(alert: Alert) -> str:
    said = alert.model_dump(mode="json", include=set(_SHOWN))
    return canonical_json(said | {"fingerprint": alert.fingerprint})


def _error(source: str, reason: str, **where: Any) -> str:
    return canonical_json({"source": source, "error": reason, **where})
