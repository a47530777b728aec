"""What the HTTP interfaces of Alertmanager and Prometheus say fires, and which rules there are.

Alertmanager's rows give the alerts its webhook would: asked under the name its webhook is
configured by, one alert is one event whichever way it came. Prometheus is another matter: its own
alerts lack the labels it adds on the way out (`external_labels`, relabelling), so their
fingerprints differ. It is polled as a source of alerts only where no Alertmanager is configured;
beside one it is asked for its rules, and `sent_as` finds the row behind an alert that came
through Alertmanager.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from pydantic import AwareDatetime

from bot.sources.json_body import as_text, text_map
from bot.sources.row import Read, read_row
from bot.sources.source import Refused
from bot.sources.times import read_time
from engine.model.alert import Alert
from engine.model.base import Frozen


class Polled(Frozen):
    """One alert a server holds now."""

    alert: Alert
    suppressed: bool = False
    """Silenced or inhibited: it fires all the same."""


class Active(Frozen):
    """One element of a rule whose condition holds."""

    labels: Mapping[str, str]
    active_at: AwareDatetime | None
    firing: bool
    """False while it waits out the rule's `for`."""


class Rule(Frozen):
    """One alerting rule of a Prometheus."""

    name: str
    expression: str
    for_s: float
    labels: Mapping[str, str] = {}
    alerts: tuple[Active, ...] = ()


def from_alertmanager(row: Any, received_at: datetime, source: str) -> Polled | Refused:
    """Read one row of `/api/v2/alerts`; fires unless its end has passed."""
    if not isinstance(row, dict):
        return _of(read_row(row, received_at, source))
    state = row.get("status")
    said = as_text(state.get("state")) if isinstance(state, dict) else ""
    read = read_row({**row, "status": None}, received_at, source)
    return _of(read, suppressed=said == "suppressed")


def _of(read: Read | Refused, *, suppressed: bool = False) -> Polled | Refused:
    return read if isinstance(read, Refused) else Polled(alert=read.alert, suppressed=suppressed)


def from_prometheus(
    row: Any, received_at: datetime, source: str
) -> tuple[Alert, datetime] | Refused | None:
    """Read one row of `/api/v1/alerts` with the time its condition became true; None if pending.

    Prometheus does not say since when it fires, only since when the condition holds, so that is
    the alert's start too.
    """
    if isinstance(row, dict) and row.get("state") not in (None, "firing"):
        return None
    active_at = row.get("activeAt") if isinstance(row, dict) else None
    shaped = {**row, "status": "firing", "startsAt": active_at} if isinstance(row, dict) else row
    read = read_row(shaped, received_at, source)
    if isinstance(read, Refused):
        return read
    moment = read_time(active_at)
    return read.alert, moment.at if moment else read.alert.starts_at


def rules_of(document: Any) -> tuple[Rule, ...]:
    """Read the alerting rules of an answer of `/api/v1/rules`; senseless ones are left out."""
    groups = _list(_object(_object(document).get("data")).get("groups"))
    rows = (_object(row) for group in groups for row in _list(_object(group).get("rules")))
    return tuple(_rule(row) for row in rows if row.get("type") == "alerting" and row.get("name"))


def _rule(row: Mapping[str, Any]) -> Rule:
    wait = row.get("duration")
    return Rule(
        name=as_text(row.get("name")),
        expression=as_text(row.get("query")),
        for_s=float(wait) if isinstance(wait, int | float) and wait > 0 else 0.0,
        labels=text_map(row.get("labels")),
        alerts=tuple(_active(_object(alert)) for alert in _list(row.get("alerts"))),
    )


def _active(row: Mapping[str, Any]) -> Active:
    moment = read_time(row.get("activeAt"))
    return Active(
        labels=text_map(row.get("labels")),
        active_at=moment.at if moment else None,
        firing=row.get("state") == "firing",
    )


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def sent_as(held: Mapping[str, str], sent: Mapping[str, str]) -> bool:
    """Whether a row Prometheus holds is the alert that was sent on: only labels were added."""
    return bool(held) and held.items() <= sent.items()
