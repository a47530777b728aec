"""A backend that spoilt a round answers again: its incidents are investigated again, once."""

import math
from datetime import datetime

from engine.model.evidence import Answered, Empty, Question
from engine.model.incident import Incident
from engine.model.run import RunTrigger
from engine.ports import Queue
from engine.stages.world import World

PROBE = "vector(1)"
"""An expression every healthy server answers, whatever it holds."""


async def look_again(client_id: str, world: World) -> int:
    """Ask for new triages where a silent backend had spoilt the last one; gives how many."""
    async with world.store.begin() as tx:
        blind = await tx.incidents.blind(client_id)
    if not blind or not await _answers(world):
        return 0
    async with world.store.begin() as tx:
        now = await tx.now()
        for incident_id in blind:
            incident = await tx.incidents.get(incident_id)
            if incident is None:
                continue
            await tx.incidents.look_again(incident_id, now)
            await tx.jobs.enqueue(
                Queue.TRIAGE,
                {"incident_id": incident_id, "trigger": RunTrigger.REJUDGE.value},
                key=incident_id,
                client_id=client_id,
                rank=incident.severity.rank,
                delay_s=_wait_s(incident, now, world),
            )
    return len(blind)


def _wait_s(incident: Incident, now: datetime, world: World) -> float:
    """Keep the least time between two judgements."""
    since = (now - incident.judged_at).total_seconds() if incident.judged_at else math.inf
    return max(0.0, world.rules.correlation.rejudge_gap_s - since)


async def _answers(world: World) -> bool:
    metrics = world.pack.metrics
    if metrics is None:
        return False
    said = await metrics.ask(Question(tool=metrics.name, queries={"probe": PROBE}))
    return isinstance(said, Answered | Empty)
