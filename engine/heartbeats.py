"""Alerts that fire while all is well: silent while they come, loud when they stop."""

from datetime import datetime

from engine.draft import Draft, opened
from engine.intake_ports import IntakeTx
from engine.lifecycle import heartbeat_missing, resolved
from engine.model.alert import AlertClass, AlertStatus, Severity
from engine.model.incident import AlertGroup, JoinReason, Member, MemberState
from engine.model.page import PageDecision
from engine.model.standing import CardReason, Flip, Heartbeat, Sighting
from engine.paging import Escalation, page
from engine.ports import NewId, Queue


async def beat(
    tx: IntakeTx,
    client_id: str,
    sighting: Sighting,
    now: datetime,
    new_id: NewId,
    escalation: Escalation,
) -> list[PageDecision]:
    """Take a heartbeat in; returns what was decided of the incident that opened, if one did."""
    alert = sighting.alert
    before = await tx.heartbeats.get(client_id, alert.fingerprint)
    if alert.status is AlertStatus.RESOLVED:
        if before is None or before.missing_since is not None:
            return []
        return (await miss(tx, before, now, new_id, escalation))[1]
    after = after_beat(before, client_id, sighting, now)
    await tx.heartbeats.save(after)
    if before is not None and before.incident_id is not None:
        await _back(tx, before, before.incident_id, now)
    return []


def after_beat(
    before: Heartbeat | None, client_id: str, sighting: Sighting, now: datetime
) -> Heartbeat:
    """The heartbeat after it came once more; a gap in which it was missed teaches nothing."""
    gap_s = before.gap_s if before else None
    if before is not None and before.missing_since is None:
        gap_s = max(gap_s or 0.0, (now - before.last_seen_at).total_seconds())
    return Heartbeat(
        client_id=client_id,
        fingerprint=sighting.alert.fingerprint,
        source=sighting.alert.source,
        rule=sighting.alert.rule,
        last_seen_at=now,
        gap_s=gap_s,
    )


async def missing(
    tx: IntakeTx, client_id: str, now: datetime, new_id: NewId, escalation: Escalation
) -> list[tuple[str, list[PageDecision]]]:
    """Open an incident for each heartbeat that stopped; returns them, and who was paged."""
    return [
        await miss(tx, heartbeat, now, new_id, escalation)
        for heartbeat in await tx.heartbeats.alive(client_id)
        if heartbeat_missing(heartbeat.last_seen_at, heartbeat.gap_s, now)
    ]


async def miss(
    tx: IntakeTx, heartbeat: Heartbeat, now: datetime, new_id: NewId, escalation: Escalation
) -> tuple[str, list[PageDecision]]:
    """Open the one loud incident of a heartbeat that stopped."""
    sighting, group, event_id = await tx.heartbeats.sighting(heartbeat)
    draft = _missed(heartbeat, sighting, group, now, new_id())
    saved = await tx.incidents.save(
        heartbeat.client_id, [draft.saved()], {heartbeat.fingerprint: event_id}
    )
    incident = saved[0].incident
    await tx.incidents.keep_flips(
        heartbeat.client_id, [_flip(heartbeat, group.id, incident.id, MemberState.FIRING, now)]
    )
    update = {"missing_since": now, "incident_id": incident.id}
    await tx.heartbeats.save(heartbeat.model_copy(update=update))
    await tx.jobs.enqueue(
        Queue.FACTS,
        {"incident_id": incident.id},
        key=incident.id,
        client_id=incident.client_id,
        rank=incident.severity.rank,
    )
    await tx.cards.wish(incident, CardReason.OPENED.value)
    return incident.id, await page(tx.pages, [(None, incident)], escalation)


def _missed(
    heartbeat: Heartbeat, sighting: Sighting, group: AlertGroup, now: datetime, incident_id: str
) -> Draft:
    draft = opened(incident_id, heartbeat.client_id, group, Severity.CRITICAL, now, now, now)
    draft.set(alert_class=AlertClass.HEARTBEAT)
    member = Member(
        alert=sighting.alert,
        group_id=group.id,
        state=MemberState.FIRING,
        joined_at=now,
        last_seen_at=now,
        reason=JoinReason.OPENED,
    )
    draft.put(member, group)
    return draft


async def _back(tx: IntakeTx, heartbeat: Heartbeat, incident_id: str, now: datetime) -> None:
    found = await tx.incidents.load([incident_id], fingerprints=[heartbeat.fingerprint])
    if not found:
        return
    draft = Draft.of(found[0])
    _, group, event_id = await tx.heartbeats.sighting(heartbeat)
    member = draft.members[heartbeat.fingerprint]
    update = {"state": MemberState.RESOLVED, "last_seen_at": now}
    draft.put(member.model_copy(update=update), group)
    draft.incident = resolved(draft.incident, now)
    draft.set(activity_at=now)
    saved = await tx.incidents.save(
        heartbeat.client_id, [draft.saved()], {heartbeat.fingerprint: event_id}
    )
    await tx.incidents.keep_flips(
        heartbeat.client_id, [_flip(heartbeat, group.id, incident_id, MemberState.RESOLVED, now)]
    )
    await tx.cards.wish(saved[0].incident, CardReason.RESOLVED.value)
    await tx.pages.resolve([incident_id])


def _flip(
    heartbeat: Heartbeat, group_id: str, incident_id: str, to: MemberState, now: datetime
) -> Flip:
    return Flip(
        group_id=group_id,
        fingerprint=heartbeat.fingerprint,
        incident_id=incident_id,
        to_state=to,
        at=now,
    )
