"""What comes round by the clock: the sweep that closes, turns green and misses heartbeats."""

import logging
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, timedelta

from apscheduler.schedulers.asyncio import AsyncIOScheduler

from bot.telemetry import Telemetry
from engine.errors import StoreUnavailableError
from engine.memory.learning import learn
from engine.model.policy import IncidentRule
from engine.model.review import ReviewReason
from engine.ports import Embedder, NewId, Queue
from engine.review import EXPIRES_S
from engine.stages.again import look_again
from engine.stages.new_day import take_up
from engine.stages.recovery import try_again
from engine.stages.world import World
from engine.sweep import reap, sweep
from storage.prune import prune
from storage.store import SqlStore

log = logging.getLogger(__name__)

PRUNE_S = 6 * 3600.0
"""How often old rows are looked for; often enough for a process that is restarted every day."""
SWEEP_S = 30
"""How often is looked for green and for heartbeats; the reaper's own time is in its rule."""


@dataclass(frozen=True)
class Sweeper:
    """Sweeps every client, one transaction each."""

    store: SqlStore
    new_id: NewId
    rule: IncidentRule
    telemetry: Telemetry
    world: Callable[[str], World]
    configured: Collection[str]
    """Clients of the configuration; only they have backends."""
    retention_s: float
    audit_retention_s: float
    provider: str
    """The model's; what waits for it tries it again from here."""
    embedder: Embedder
    """What makes approved resolutions findable."""

    async def sweep(self) -> None:
        """Turn green and miss heartbeats; a database that is down is left for the next round."""
        try:
            for client_id in await self._clients():
                async with self.store.begin() as tx:
                    swept = await sweep(tx, client_id, now=await tx.now(), new_id=self.new_id)
                if client_id in self.configured:
                    await look_again(client_id, self.world(client_id))
                    await take_up(client_id, self.world(client_id))
                if swept.missing:
                    log.warning("%s: %d heartbeat(s) stopped", client_id, len(swept.missing))
            async with self.store.begin() as tx:
                await try_again(tx, self.provider)
            await learn(self.store, self.embedder)
            await self._depths()
        except StoreUnavailableError:
            log.warning("no sweep: the database is down")

    async def reap(self) -> None:
        """Close incidents without news, and what nobody reviewed in time."""
        try:
            for client_id in await self._clients():
                async with self.store.begin() as tx:
                    swept = await reap(tx, client_id, now=await tx.now(), rule=self.rule)
                self.telemetry.count("incident_reaped_total", len(swept.closed))
            async with self.store.begin() as tx:
                expired = await tx.reviews.expire(EXPIRES_S)
            self.telemetry.count("review_items_expired_total", expired)
        except StoreUnavailableError:
            log.warning("nothing was reaped: the database is down")

    async def prune(self) -> None:
        """Forget what is past its time."""
        try:
            async with self.store.begin() as tx:
                now = await tx.now()
                audited = await tx.audit.forget(now - timedelta(seconds=self.audit_retention_s))
            gone = await prune(self.store, now - timedelta(seconds=self.retention_s))
        except StoreUnavailableError:
            log.warning("nothing was pruned: the database is down")
            return
        if audited:
            gone = {**gone, "audit": audited}
        if gone:
            log.info("pruned: %s", ", ".join(f"{n} {table}" for table, n in gone.items()))

    async def _clients(self) -> list[str]:
        async with self.store.begin() as tx:
            return [client.id for client in await tx.org.clients()]

    async def _depths(self) -> None:
        async with self.store.begin() as tx:
            waiting = await tx.reviews.counts()
        for reason in ReviewReason:
            self.telemetry.set("review_items_open", waiting.get(reason, 0), reason=reason.value)
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
        made.add_job(sweeper.sweep, "interval", seconds=SWEEP_S)
        made.add_job(sweeper.prune, "interval", seconds=PRUNE_S)
        made.add_job(sweeper.reap, "interval", seconds=sweeper.rule.reap_interval_s)
    return made
