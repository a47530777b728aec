"""One alert in the shape the whole Prometheus family writes it."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from bot.sources.json_body import as_json, as_text, text_map
from bot.sources.severity import PROMETHEUS, severity_of
from bot.sources.source import Refused
from bot.sources.times import Moment, read_time, to_the_millisecond
from engine.model.alert import Alert, AlertStatus

CLOCK_SKEW = timedelta(hours=24)
"""A start further ahead is a broken clock, not a clock that is a little off."""

_STATUS = {
    "firing": AlertStatus.FIRING,
    "alerting": AlertStatus.FIRING,
    "active": AlertStatus.FIRING,
    "suppressed": AlertStatus.FIRING,
    "unprocessed": AlertStatus.FIRING,
    "resolved": AlertStatus.RESOLVED,
    "ok": AlertStatus.RESOLVED,
}


class Read(NamedTuple):
    """An alert, and what had to be assumed to read it."""

    alert: Alert
    notes: tuple[str, ...] = ()


def read_row(row: Any, received_at: datetime, source: str, otherwise: Any = None) -> Read | Refused:
    """Read one alert; `otherwise` is the status of the envelope, for rows that have none."""
    if not isinstance(row, dict):
        return Refused(reason="The alert is not an object.", text=as_json(row))
    labels = text_map(row.get("labels"))
    if not any(labels.values()):
        return Refused(reason="The alert has no labels.", text=as_json(row))
    status = _status(row, received_at, otherwise)
    if status is None:
        said = f"The status {as_text(row.get('status'))[:40]!r} is neither firing nor resolved."
        return Refused(reason=said, text=as_json(row))
    return _read(row, labels, status, received_at, source)


def _status(row: Mapping[str, Any], received_at: datetime, otherwise: Any) -> AlertStatus | None:
    """The alert's own word, then the envelope's, then what its end says."""
    for said in (row.get("status"), otherwise):
        if said not in (None, ""):
            return _STATUS.get(as_text(said).strip().lower())
    end = read_time(row.get("endsAt"))
    ended = end is not None and end.at <= received_at
    return AlertStatus.RESOLVED if ended else AlertStatus.FIRING


def _read(
    row: Mapping[str, Any],
    labels: Mapping[str, str],
    status: AlertStatus,
    received_at: datetime,
    source: str,
) -> Read:
    start, note = _start(row, received_at)
    alert = Alert(
        source=source,
        status=status,
        severity=severity_of(labels, PROMETHEUS),
        labels=labels,
        annotations=text_map(row.get("annotations")),
        starts_at=start.at,
        ends_at=_end(row, received_at) if status is AlertStatus.RESOLVED else None,
        source_fingerprint=as_text(row.get("fingerprint")) or None,
        generator_url=as_text(row.get("generatorURL")) or None,
        zone_assumed=start.zone_assumed,
    )
    return Read(alert, (f"{alert.rule or 'unnamed alert'}: {note}",) if note else ())


def _start(row: Mapping[str, Any], received_at: datetime) -> tuple[Moment, str]:
    start = read_time(row.get("startsAt"))
    arrival = Moment(to_the_millisecond(received_at))
    if start is None:
        return arrival, "no readable start, its arrival was taken"
    if start.at > received_at + CLOCK_SKEW:
        return arrival, "it starts in the future, its arrival was taken"
    note = "no time zone, UTC was taken" if start.zone_assumed else ""
    return start._replace(at=to_the_millisecond(start.at)), note


def _end(row: Mapping[str, Any], received_at: datetime) -> datetime:
    """When it resolved; what was reported resolved cannot end later than the report."""
    end = read_time(row.get("endsAt"))
    return to_the_millisecond(min(end.at, received_at) if end else received_at)
