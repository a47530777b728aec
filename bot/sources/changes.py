"""The change webhook: deploys, configuration changes and the like, in plain JSON."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from bot.sources.json_body import as_json, as_text, read_json, text_map
from bot.sources.source import (
    MAX_ALERTS,
    ChangeSource,
    ParsedChanges,
    Refused,
    UnreadableError,
)
from bot.sources.times import read_time
from engine.labels import cut_port
from engine.model.change import Change
from engine.model.pack import ChangeKind

_KINDS: Mapping[str, ChangeKind] = {
    spelling: kind
    for kind, spellings in {
        ChangeKind.DEPLOY: "deploy deployment release rollout rollback promotion sync",
        ChangeKind.IMAGE: "image container_image",
        ChangeKind.BUILD: "build ci pipeline commit push merge",
        ChangeKind.CONFIG: "config configuration setting feature_flag flag migration secret",
        ChangeKind.RESTART: "restart reboot",
        ChangeKind.CLOUD: "cloud infrastructure infra terraform scaling dns",
        ChangeKind.OTHER: "other",
    }.items()
    for spelling in spellings.split()
}
"""Anything else is kept as `other`, with the sender's word in front of what it says."""

_WHAT = ("what", "summary", "title", "message", "version", "description")
_AT = ("at", "time", "timestamp", "date")
_COMPONENTS = (
    "service",
    "app",
    "workload",
    "deployment",
    "statefulset",
    "daemonset",
    "component",
    "job",
    "resource",
    "repository",
)
_HOSTS = ("instance", "host", "hostname", "node", "kubernetes_node")
_ONE_LINE = 300
_TOO_LARGE = 413


def read(body: bytes, received_at: datetime, source: str) -> ParsedChanges:
    """Read one change, a list of them, or an object whose `changes` is one."""
    found = [_read(row, received_at, source) for row in _rows(read_json(body))]
    return ParsedChanges(
        changes=tuple(one for one in found if isinstance(one, Change)),
        refused=tuple(one for one in found if isinstance(one, Refused)),
    )


def _rows(document: Any) -> list[Any]:
    rows = document.get("changes", [document]) if isinstance(document, dict) else document
    if not isinstance(rows, list) or not rows:
        raise UnreadableError("The body has no change and no list of changes.")
    if len(rows) > MAX_ALERTS:
        raise UnreadableError(f"The body holds more than {MAX_ALERTS:,} changes.", _TOO_LARGE)
    return rows


def _read(row: Any, received_at: datetime, source: str) -> Change | Refused:
    if not isinstance(row, dict):
        return Refused(reason="The change is not an object.", text=as_json(row))
    said = as_text(row.get("kind")).strip()
    labels = text_map(row.get("labels"))
    if not said:
        return Refused(reason="The change has no kind.", text=as_json(row))
    if not any(labels.values()):
        return Refused(reason="The change has no labels.", text=as_json(row))
    kind = _KINDS.get(said.lower().replace("-", "_").replace(" ", "_"))
    what = _one_line(_first(row, _WHAT) or said)
    host = as_text(row.get("host")) or _first(labels, _HOSTS)
    return Change(
        source=source,
        kind=kind or ChangeKind.OTHER,
        at=_at(row, received_at),
        component=_component(row, labels, host),
        what=what if kind or what == said else _one_line(f"{said}: {what}"),
        labels=labels,
        host=cut_port(host) or None,
        dedup_key=_first(row, ("dedup_key", "id")) or None,
    )


def _at(row: Mapping[str, Any], received_at: datetime) -> datetime:
    """When it changed: never later than we heard of it, and then when none is given."""
    moments = (read_time(row.get(name)) for name in _AT)
    return min(next((m.at for m in moments if m), received_at), received_at)


def _component(row: Mapping[str, Any], labels: Mapping[str, str], host: str) -> str:
    named = as_text(row.get("component")) or _first(labels, _COMPONENTS)
    return _one_line(named or cut_port(host) or next(filter(None, labels.values())))


def _first(values: Mapping[str, Any], names: tuple[str, ...]) -> str:
    return next(filter(None, (as_text(values.get(name)) for name in names)), "")


def _one_line(text: str) -> str:
    return " ".join(text.split())[:_ONE_LINE]


SOURCE = ChangeSource(name="changes", read=read)
