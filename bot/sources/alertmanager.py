"""Alertmanager's webhook, version 4 of its body."""

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from bot.sources.json_body import as_text, read_json
from bot.sources.row import Read, read_row
from bot.sources.source import MAX_ALERTS, AlertSource, Parsed, Refused, UnreadableError

VERSION = "4"
_TOO_LARGE = 413
_COUNT = re.compile("[0-9]{1,9}")


def read(body: bytes, received_at: datetime, source: str) -> Parsed:
    """Read one notification; an alert that cannot be read never drops its siblings."""
    envelope = read_json(body)
    rows = _rows(envelope)
    found = [read_row(row, received_at, source, envelope.get("status")) for row in rows]
    good = [one for one in found if isinstance(one, Read)]
    return Parsed(
        alerts=tuple(one.alert for one in good),
        refused=tuple(one for one in found if isinstance(one, Refused)),
        truncated=_truncated(envelope),
        sender_group=as_text(envelope.get("groupKey")) or None,
        notes=tuple(dict.fromkeys(note for one in good for note in one.notes)),
    )


def _rows(envelope: Any) -> list[Any]:
    rows = envelope.get("alerts") if isinstance(envelope, dict) else None
    if not isinstance(rows, list):
        raise UnreadableError("The body has no list of alerts.")
    version = as_text(envelope.get("version")) or VERSION
    if version != VERSION:
        raise UnreadableError(
            f"The body's version is {version[:20]!r}; only {VERSION!r} can be read."
        )
    if not rows:
        raise UnreadableError("The list of alerts is empty.")
    if len(rows) > MAX_ALERTS:
        raise UnreadableError(f"The body holds more than {MAX_ALERTS:,} alerts.", _TOO_LARGE)
    return rows


def _truncated(envelope: Mapping[str, Any]) -> int:
    left_out = as_text(envelope.get("truncatedAlerts"))
    return int(left_out) if _COUNT.fullmatch(left_out) else 0


SOURCE = AlertSource(name="alertmanager", read=read)
