"""What comes round by the clock: the sweep that closes, turns green and misses heartbeats."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC

from apscheduler.schedulers.asyncio import AsyncIOScheduler

from bot.telemetry import Telemetry
from engine.errors import StoreUnavailableError
from engine.model.policy import IncidentRule
from engine.ports import NewId, Queue
from engine.sweep import sweep
from storage.store import SqlStore

log = logging.getLogger(__name__)

SWEEP_S = 30
"""How often is looked; green and heartbeats need it often, the reaper's own time is in its rule."""


@dataclass(frozen=True)
class Sweeper:
    """Sweeps every client, one transaction each."""

    store: SqlStore
    new_id: NewId
    rule: IncidentRule
    telemetry: Telemetry

    async def once(self) -> None:
        """Do what is due now; a database that is down is left for the next round."""
        try:
            async with self.store.begin() as tx:
                clients = await tx.org.clients()
            for client in clients:
                await self._client(client.id)
            await self._depths()
        except StoreUnavailableError:
            log.warning("no sweep: the database is down")

    async def _client(self, client_id: str) -> None:
        async with self.store.begin() as tx:
            now = await tx.now()
            swept = await sweep(tx, client_id, now=now, new_id=self.new_id, rule=self.rule)
        for word, ids in (("closed", swept.closed), ("missing heartbeat", swept.missing)):
            if ids:
                log.info("%s: %s %s", client_id, word, ", ".join(ids))
        self.telemetry.count("incident_reaped_total", len(swept.closed))

    async def _depths(self) -> None:
        for queue in Queue:
            async with self.store.begin() as tx:
                depth, age_s = await tx.jobs.depth(queue)
            self.telemetry.set("queue_depth", depth, queue=queue.value)
            self.telemetry.set("queue_oldest_age_seconds", age_s, queue=queue.value)


def scheduler(sweepers: Sequence[Sweeper]) -> AsyncIOScheduler:
    """Make a scheduler; nothing it missed is run twice, and nothing late is dropped."""
    made = AsyncIOScheduler(
        timezone=UTC,
        job_defaults={"coalesce": True, "max_instances": 1, "misfire_grace_time": None},
    )
    for sweeper in sweepers:
        made.add_job(sweeper.once, "interval", seconds=SWEEP_S)
    return made
