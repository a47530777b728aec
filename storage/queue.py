"""The PostgreSQL queue: four verbs over the job table, woken by NOTIFY."""

import asyncio
import contextlib
from collections.abc import Mapping, Sequence

from engine.model.inquiry import InquiryState
from engine.model.review import ReviewReason
from engine.model.run import FailureClass, RunState
from engine.ports import DeadReason, Delivery, Queue
from engine.review import open_review
from storage.jobs import LEASE_S, JobRows
from storage.listener import listen
from storage.store import SqlStore, SqlTx

CHANNEL = "caveat_jobs"
STOPPED = "stopped without an answer time and again; see the log"
_ENDED = frozenset({RunState.DONE, RunState.SKIPPED, RunState.FAILED})


class PostgresQueue:
    """Jobs of one database; each verb is a transaction of its own."""

    def __init__(
        self,
        store: SqlStore,
        *,
        per_client: Mapping[Queue, int] | None = None,
        lease_s: float = LEASE_S,
    ) -> None:
        """Serve jobs of `store`; `per_client` caps how many of a queue one client may run."""
        self._store = store
        self._per_client = per_client or {}
        self._lease_s = lease_s
        self._wake = asyncio.Event()

    async def claim(self, queues: Sequence[Queue], limit: int) -> Sequence[Delivery]:
        """Take due jobs; those in a crash loop are given up here and never handed out."""
        taken: list[Delivery] = []
        for queue in queues:
            if len(taken) < limit:
                taken += await self._claim_of(queue, limit - len(taken))
        return taken

    async def _claim_of(self, queue: Queue, limit: int) -> list[Delivery]:
        cap = self._per_client.get(queue, limit)
        async with self._store.begin() as tx:
            jobs = JobRows(tx.session)
            good, looping = await jobs.claim(queue, limit, per_client=cap, lease_s=self._lease_s)
            for delivery in looping:
                await jobs.term(delivery, DeadReason.CRASH_LOOP, STOPPED)
                await _run_failed(tx, delivery)
        return good

    async def ack(self, delivery: Delivery) -> bool:
        """Done."""
        async with self._store.begin() as tx:
            return await JobRows(tx.session).finish(delivery)

    async def nak(self, delivery: Delivery, delay_s: float, error: str) -> bool:
        """Give it back, due again after `delay_s`."""
        async with self._store.begin() as tx:
            return await JobRows(tx.session).nak(delivery, delay_s, error)

    async def term(self, delivery: Delivery, reason: DeadReason, error: str) -> bool:
        """Give it up, with a dead-letter row."""
        async with self._store.begin() as tx:
            return await JobRows(tx.session).term(delivery, reason, error)

    async def in_progress(self, delivery: Delivery) -> bool:
        """Renew the lease."""
        async with self._store.begin() as tx:
            return await JobRows(tx.session).renew(delivery, self._lease_s)

    async def wait(self, timeout_s: float) -> None:
        """Return when somebody enqueued, at the latest after `timeout_s`."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                await self._wake.wait()
        self._wake.clear()

    async def listen(self) -> None:
        """Pass the database's wake-up calls on until cancelled; reconnects when it goes away."""
        await listen(self._store, CHANNEL, self._wake)


async def _run_failed(tx: SqlTx, delivery: Delivery) -> None:
    """Have the card say that nobody looks into it any more."""
    asked = await tx.inquiries.get(delivery.ids.get("inquiry_id", ""))
    if asked is not None and asked.state is InquiryState.WAITING:
        given_up = {"state": InquiryState.FAILED, "failure": FailureClass.TERMINAL}
        await tx.inquiries.save(asked.model_copy(update=given_up))
        await tx.cards.wish_inquiry(asked)
    incident_id = delivery.ids.get("incident_id", "")
    incident, run = await tx.incidents.get(incident_id), await tx.runs.newest(incident_id)
    if delivery.queue is not Queue.TRIAGE or incident is None or run is None or run.state in _ENDED:
        return
    failed = {
        "state": RunState.FAILED,
        "failure": FailureClass.TERMINAL,
        "failure_text": STOPPED,
        "finished_at": await tx.now(),
        "next_try_at": None,
    }
    await tx.runs.save(run.model_copy(update=failed))
    await open_review(tx, incident, ReviewReason.DEAD_LETTER, run.triage_id)
    await tx.cards.wish(incident, RunState.FAILED.value)
