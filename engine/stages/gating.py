"""Collects what the gate decides by, at the moment it is asked."""

from datetime import datetime

from engine.budget import day_start, exhausted
from engine.gate import GateFacts, gate
from engine.lifecycle import chronic_quiet
from engine.model.alert import Severity
from engine.model.finding import Finding
from engine.model.incident import Incident
from engine.model.org import Flags
from engine.model.run import RunTrigger, SkipReason
from engine.ports import Queue, Tx
from engine.routing import route
from engine.stages.world import World

TRIAL_S = 120.0
"""How long a trial of a provider may take before another one may try."""
_PRESSED = frozenset({RunTrigger.MANUAL, RunTrigger.ENGAGE})


async def asked(tx: Tx, world: World, incident: Incident, trigger: RunTrigger) -> SkipReason | None:
    """Say why no model may be asked about an incident now; None lets it be asked."""
    now = await tx.now()
    outage = await tx.outages.open(world.provider)
    rooms = route(await tx.org.rooms(incident.client_id), incident.lead.alert.labels)
    spent = await tx.calls.spent(incident.client_id, day_start(now))
    facts = GateFacts(
        flags=await _flags(tx, incident.client_id),
        rooms=tuple(room.triage for room in rooms),
        trigger=trigger,
        model_configured=world.judge is not None,
        breaker_open=outage is not None
        and not outage.lets_through(now, pressed=trigger in _PRESSED),
        budget_spent=exhausted(spent, world.rules.budget),
        waiting=await tx.jobs.waiting(Queue.TRIAGE, incident.client_id),
        storm_waiting=world.rules.triage.storm_waiting,
        chronic_quiet=await _quiet(tx, world, incident, now),
    )
    return gate(incident, facts)


async def tries(tx: Tx, world: World) -> bool | None:
    """Take the trial while a provider's breaker is open; None when another one has it.

    False is the usual case: the breaker is shut and whoever passed the gate may ask.
    """
    outage = await tx.outages.open(world.provider)
    if outage is None or not outage.shut:
        return False
    return await tx.outages.try_once(world.provider, TRIAL_S) or None


async def next_try(tx: Tx, world: World, reason: SkipReason) -> datetime | None:
    """When a provider whose breaker is open is tried again; None for every other reason."""
    if reason is not SkipReason.BREAKER_OPEN:
        return None
    outage = await tx.outages.open(world.provider)
    return outage.retry_at if outage is not None else None


async def _flags(tx: Tx, client_id: str) -> Flags | None:
    try:
        return (await tx.org.client(client_id)).flags
    except LookupError:
        return None


async def _quiet(tx: Tx, world: World, incident: Incident, now: datetime) -> bool:
    if not incident.chronic:
        return False
    last = await family_finding(tx, incident)
    changed = last is not None and bool(
        await tx.changes.between(incident.client_id, last.created_at, now)
    )
    return chronic_quiet(
        incident,
        found_at=last.created_at if last else None,
        found_severity=await _severity_of(tx, last),
        changed=changed,
        now=now,
        rule=world.rules.recurrence,
    )


async def family_finding(tx: Tx, incident: Incident) -> Finding | None:
    """The newest finding on any incident that held the lead's family."""
    key = incident.group_of(incident.lead).family_key
    return await tx.findings.newest_of_family(incident.client_id, key)


async def _severity_of(tx: Tx, finding: Finding | None) -> Severity | None:
    earlier = None if finding is None else await tx.incidents.get(finding.incident_id)
    return None if earlier is None else earlier.severity
