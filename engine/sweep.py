"""What time alone brings about: green after quiet, closed without news, a missing heartbeat."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from engine.draft import Draft
from engine.heartbeats import missing
from engine.intake_ports import IntakeTx
from engine.lifecycle import resolved, stale, turns_green
from engine.model.base import Frozen
from engine.model.page import PageDecision
from engine.model.policy import IncidentRule
from engine.model.standing import CardReason
from engine.paging import Escalation
from engine.ports import NewId


class Swept(Frozen):
    """Incidents a sweep changed."""

    resolved: tuple[str, ...] = ()
    closed: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    """Opened for heartbeats that stopped."""
    pages: tuple[PageDecision, ...] = ()
    """Who was paged for them."""


async def sweep(
    tx: IntakeTx, client_id: str, *, now: datetime, new_id: NewId, escalation: Escalation
) -> Swept:
    """Turn green what stayed quiet, and miss the heartbeats that stopped."""
    await tx.incidents.lock(client_id)
    green = await _turn_green(tx, client_id, now)
    missed = await missing(tx, client_id, now, new_id, escalation)
    return Swept(
        resolved=tuple(green),
        missing=tuple(incident_id for incident_id, _ in missed),
        pages=tuple(one for _, decided in missed for one in decided),
    )


async def reap(tx: IntakeTx, client_id: str, *, now: datetime, rule: IncidentRule) -> Swept:
    """Close what nobody had news of. Sources that can be asked have been asked just before."""
    await tx.incidents.lock(client_id)
    return Swept(closed=tuple(await _reap(tx, client_id, now, rule)))


async def _turn_green(tx: IntakeTx, client_id: str, now: datetime) -> Sequence[str]:
    due = await tx.incidents.load(await tx.incidents.green_due(client_id, now))
    drafts = [Draft.of(s) for s in due if turns_green(s.incident, s.firing, now)]
    for draft in drafts:
        draft.incident = resolved(draft.incident, now)
    saved = await tx.incidents.save(client_id, [d.saved() for d in drafts], {})
    for one in saved:
        await tx.cards.wish(one.incident, CardReason.RESOLVED.value)
    await tx.pages.resolve([one.incident.id for one in saved])
    return [one.incident.id for one in saved]


async def _reap(tx: IntakeTx, client_id: str, now: datetime, rule: IncidentRule) -> Sequence[str]:
    since = now - timedelta(seconds=rule.stale_ttl_s)
    quiet = await tx.incidents.load(await tx.incidents.without_news(client_id, since))
    gone = [s.incident for s in quiet if stale(s.incident, now, rule)]
    ids = [incident.id for incident in gone]
    await tx.incidents.close(client_id, ids, now)
    for incident in gone:
        await tx.cards.wish(incident, CardReason.CLOSED.value)
    await tx.pages.resolve(ids)
    return ids
