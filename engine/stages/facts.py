"""The facts card: what is known in a second and a half, then the rest; no model anywhere."""

from asyncio import TaskGroup
from datetime import datetime

from engine.budget import day_start
from engine.charting import chart_of, keep_chart
from engine.model.event import SessionEvent
from engine.model.incident import Incident, IncidentState
from engine.model.pack import HistoryFacts, Pack
from engine.model.run import Run, RunState, RunTrigger, SkipReason
from engine.pack.build import PackBuilder
from engine.pack.section import Subject
from engine.ports import NewId, Tx
from engine.stages.gating import asked, family_finding, next_try
from engine.stages.world import World

MARGIN_S = 0.25
"""Time the outbox needs to draw and send before the facts card is due."""


async def show_facts(incident_id: str, world: World, new_id: NewId) -> None:
    """Look at everything that can be asked without a model, and show it as it comes."""
    async with world.store.begin() as tx:
        incident = await tx.incidents.get(incident_id)
        if incident is None or incident.state is IncidentState.MERGED:
            return
        now = await tx.now()
        subject = await subject_of(tx, world, incident)
        await _say_if_not_investigated(tx, world, incident, new_id)
    due_s = world.rules.pack.facts_card_s - MARGIN_S - (now - incident.opened_at).total_seconds()
    builder = PackBuilder(subject, world.pack)
    async with TaskGroup() as group:
        early = group.create_task(_early(builder, incident, world, max(0.0, due_s)))
        pack = await builder.finish()
        early.cancel()
    await _show(pack, incident, world, complete=True)
    async with world.store.begin() as tx:
        await keep_chart(tx, chart_of(pack, builder.curve), incident)


async def subject_of(tx: Tx, world: World, incident: Incident) -> Subject:
    """The incident with what only the database knows of its past."""
    last = await family_finding(tx, incident)
    rules = world.rules
    return Subject(
        incident=incident,
        history=HistoryFacts(
            occurrences=incident.recurrences + 1,
            window_s=rules.recurrence.chronic_window_s,
            last_at=last.created_at if last else None,
            last_root_cause=last.root_cause if last else None,
            last_trust=last.trust_level.value if last else None,
        ),
        pack=rules.pack,
        correlation=rules.correlation,
    )


async def _early(builder: PackBuilder, incident: Incident, world: World, due_s: float) -> None:
    await world.pack.clock.sleep(due_s)
    await _show(builder.partial(), incident, world, complete=False)


async def _show(pack: Pack, incident: Incident, world: World, *, complete: bool) -> None:
    async with world.store.begin() as tx:
        await tx.findings.show_facts(pack, complete=complete)
        await tx.cards.wish(incident, "facts")


async def _say_if_not_investigated(tx: Tx, world: World, incident: Incident, new_id: NewId) -> None:
    reason = await asked(tx, world, incident, RunTrigger.AUTO)
    if reason is not None:
        await note_skip(tx, incident, reason, new_id, await next_try(tx, world, reason))


async def note_skip(
    tx: Tx,
    incident: Incident,
    reason: SkipReason,
    new_id: NewId,
    next_try_at: datetime | None = None,
) -> Run | None:
    """Record that no model is asked, once per reason and day; None when it stands there already."""
    before = await tx.runs.newest(incident.id)
    now = await tx.now()
    if before is not None and before.skip_reason is reason and _stands(before, now):
        return None
    run = Run(
        triage_id=new_id(),
        incident_id=incident.id,
        client_id=incident.client_id,
        trigger=RunTrigger.AUTO,
        state=RunState.SKIPPED,
        created_at=now,
        finished_at=now,
        skip_reason=reason,
        next_try_at=next_try_at,
    )
    await tx.runs.add(run)
    await tx.steps.append(run, SessionEvent.SKIPPED, {"reason": reason})
    await tx.cards.wish(incident, f"skipped: {reason}")
    if reason is SkipReason.BUDGET:
        await tell_of_budget(tx, incident.client_id)
    return run


def _stands(before: Run, now: datetime) -> bool:
    """Whether what was said still holds: a budget is one of its day."""
    return before.skip_reason is not SkipReason.BUDGET or before.created_at >= day_start(now)


async def tell_of_budget(tx: Tx, client_id: str) -> None:
    """Say that a day's budget is spent; told again the same day it is the same notice."""
    day = day_start(await tx.now())
    await tx.cards.wish_digest(client_id, "notice", f"budget_spent:{day:%Y-%m-%d}")
