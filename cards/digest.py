"""One card for many: what already fired at first contact, and storms."""

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime

from cards import words
from cards.actions import button
from cards.card import Button, Card, Line, Section, Text, Tone
from cards.figures import TIMES, count, duration
from cards.line import bold, code, moment, say, text
from cards.render.limits import clean, cut
from cards.sound import LOUDEST
from engine.model.action import Action
from engine.model.alert import Severity
from engine.model.base import Frozen
from engine.model.incident import AlertGroup, Incident, Member
from engine.model.org import RoomSound
from engine.model.run import CaseFile

MOST_ROWS = 12
MOST_BUTTONS = 3
STALE_S = 86_400
PLACES = ("service", "workload", "host", "node", "namespace", "device", "instance")


class Row(Frozen):
    """One failure among many."""

    incident_id: str
    severity: Severity
    rule: str
    place: str
    since_at: datetime
    alerts: int


def row_of(incident: Incident) -> Row:
    """An incident in one row."""
    lead = incident.lead
    return _row(incident, incident.group_of(lead), incident.members)


def _row(incident: Incident, group: AlertGroup, members: Sequence[Member]) -> Row:
    worst = max(members, key=lambda member: member.alert.severity.rank)
    labels = {**worst.alert.labels, **group.scope}
    return Row(
        incident_id=incident.id,
        severity=worst.alert.severity,
        rule=worst.alert.rule or group.rule,
        place=next((labels[key] for key in PLACES if labels.get(key)), ""),
        since_at=min(member.alert.starts_at for member in members),
        alerts=len(members),
    )


def rows_of(incident: Incident) -> tuple[Row, ...]:
    """The groups of an incident, a row each."""
    grouped = ((g, [m for m in incident.members if m.group_id == g.id]) for g in incident.groups)
    return tuple(_row(incident, group, members) for group, members in grouped if members)


def first_contact(case: CaseFile, now: datetime, *, offered: Collection[Action]) -> Card:
    """What already fired when the source was first seen, in one incident's card."""
    rows = rows_of(case.incident)
    return already_firing(rows, now, source=case.incident.lead.alert.source, offered=offered)


def already_firing(
    rows: Sequence[Row], now: datetime, *, source: str, offered: Collection[Action]
) -> Card:
    """What already fired when the source was first seen: nothing of it is investigated unasked."""
    number = count(sum(row.alerts for row in rows), "alert")
    lead = say(bold(f"{number} already fired"), " when ", code(source), " was connected.")
    tail = say("None is investigated by itself. Older than a day is often a broken rule.")
    gist = "already firing, no cause looked for, can wait"
    return _digest("FIRST CONTACT", gist, text(lead, tail), rows, now, offered=offered)


def storm(
    rows: Sequence[Row], now: datetime, *, sound: RoomSound, offered: Collection[Action]
) -> Card:
    """More new cards than a room can read: one list, edited in place."""
    number = count(len(rows), "incident")
    lead = say(bold(f"{number} in a short time"), ": one list instead of a card each.")
    gist = "no cause yet, unknown if it can wait"
    made = _digest("STORM", gist, text(lead), rows, now, offered=offered)
    lowest = LOUDEST[sound]
    worst = max((row.severity.rank for row in rows), default=0)
    return made.model_copy(update={"audible": lowest is not None and worst >= lowest})


def _digest(
    name: str,
    gist: str,
    lead: Text,
    rows: Sequence[Row],
    now: datetime,
    *,
    offered: Collection[Action],
) -> Card:
    ordered = sorted(rows, key=lambda row: (-row.severity.rank, row.since_at))
    number = count(len(ordered), "incident" if name == "STORM" else "rule")
    return Card(
        tone=Tone.NOTICE,
        heading=f"{name} · {number}",
        lock_screen=cut(clean(f"{name} · {number}{_worst(ordered)} · {gist}"), 110),
        sections=(
            Section(name="lead", blocks=(lead,), rank=10, keep=90),
            Section(name="rows", blocks=(text(*_lines(ordered, now)),), rank=20, keep=80),
        ),
        buttons=tuple(_buttons(ordered, offered)),
        facts={"state": name.lower().replace(" ", "_")},
    )


def _worst(ordered: Sequence[Row]) -> str:
    if not ordered:
        return ""
    place = cut(clean(ordered[0].place or ordered[0].rule), 30)
    return f" · worst {words.SEVERITY[ordered[0].severity]} {place}"


def _lines(rows: Sequence[Row], now: datetime) -> list[Line]:
    lines = [_line(row, now) for row in rows[:MOST_ROWS]]
    hidden = len(rows) - MOST_ROWS
    return [*lines, say(f"and {hidden:,} more")] if hidden > 0 else lines


def _line(row: Row, now: datetime) -> Line:
    age_s = (now - row.since_at).total_seconds()
    since = (
        say(f"for {duration(age_s)}")
        if age_s > STALE_S
        else say("since ", moment(row.since_at, now))
    )
    number = f" {TIMES}{row.alerts:,}" if row.alerts > 1 else ""
    place = say(" ", code(cut(clean(row.place), 40))) if row.place else ()
    name = cut(clean(row.rule), 60)
    return (
        *say(bold(words.SEVERITY[row.severity]), f" {name}"),
        *place,
        *say(f"{number}, "),
        *since,
    )


def _buttons(rows: Iterable[Row], offered: Collection[Action]) -> list[Button]:
    if Action.INVESTIGATE not in offered:
        return []
    first = {row.incident_id: row for row in reversed(list(rows))}
    chosen = list(reversed(first.values()))[:MOST_BUTTONS]
    return [
        button(Action.INVESTIGATE, subject=row.incident_id).model_copy(
            update={"label": cut(f"Investigate {clean(row.place or row.rule)}", 30)}
        )
        for row in chosen
    ]
