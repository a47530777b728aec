"""Changes as evidence: read from the log or from metrics, placed against onset and firing."""

from collections.abc import Iterable
from datetime import timedelta
from typing import Final

from engine.model.change import Change
from engine.model.evidence import Gap
from engine.model.org import DRILL_CLIENT
from engine.model.pack import Anchor, ChangeFacts, ChangeKind, SectionName
from engine.pack.figures import moment, offset
from engine.pack.section import Case, Gathered, Items, SectionNote

SHIPPED: Final = frozenset({ChangeKind.DEPLOY, ChangeKind.IMAGE, ChangeKind.BUILD})


async def logged(case: Case) -> list[Change]:
    """Read the client's changes from the change window before onset up to the survey's end."""
    assert case.ports.changes is not None, "only sections with a change log read it"
    start_at = case.anchor.onset_at - timedelta(seconds=case.subject.pack.change_window_s)
    found = await case.ports.changes.between(start_at, case.survey.window.end_at)
    rehearsal = case.anchor.client_id == DRILL_CLIENT
    return [change for change in found if change.drill == rehearsal]


def facts(change: Change, anchor: Anchor) -> ChangeFacts:
    """Place a change against firing and onset."""
    return ChangeFacts(
        change=change.kind,
        at=change.at,
        offset_s=(change.at - anchor.fired_at).total_seconds(),
        onset_offset_s=(change.at - anchor.onset_at).total_seconds(),
        component=change.component,
        what=change.what,
        source=change.source,
        labels=change.labels,
    )


def said(change: ChangeFacts) -> str:
    """Put a change into one plain line with both of its offsets."""
    when = f"{moment(change.at)}, {offset(change.onset_offset_s, 'onset')}"
    if round(change.offset_s) != round(change.onset_offset_s):
        when += f", {offset(change.offset_s, 'firing')}"
    return f"{change.change} of {change.component}: {change.what} ({when}; {change.source})"


def nearest_first(changes: Iterable[ChangeFacts]) -> list[ChangeFacts]:
    """Sort by distance to onset."""
    return sorted(changes, key=lambda c: (abs(c.onset_offset_s), c.at, c.component, c.what))


def newest_first(changes: Iterable[ChangeFacts]) -> list[ChangeFacts]:
    """Sort by time, the newest first."""
    return sorted(changes, key=lambda c: (-c.at.timestamp(), c.component, c.what))


async def section_of(
    name: SectionName,
    items: Items,
    changes: Iterable[ChangeFacts],
    case: Case,
    gap: Gap | None = None,
) -> Gathered:
    """Write changes as a section; "nobody told us" is said where no source ever spoke."""
    ports = case.ports
    for change in changes:
        told = {"what": ports.clean(change.what), "component": ports.clean(change.component)}
        clean = change.model_copy(update={**told, "labels": ports.cleaned(change.labels)})
        items.add(said(clean), clean)
    log = case.ports.changes
    silent = log is None or await log.sources() == 0
    return items.section(name, note=SectionNote.NO_CHANGE_SOURCE if silent else "", gap=gap)
