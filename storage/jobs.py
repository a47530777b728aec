"""The job table: jobs commit with what caused them, and a lease with a fence guards each claim."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, cast

from sqlalchemy import CursorResult, TextClause, text
from sqlalchemy.ext.asyncio import AsyncSession

from engine.ports import DeadReason, Delivery, JobWish, Queue

LEASE_S = 30
"""How long a claim holds without a sign of life."""
CRASH_LOOP = 3
"""Consecutive claims that ended in no verb before a job is given up."""

_ENQUEUE = text("""
    insert into jobs (queue, key, ids, client_id, severity_rank, run_at)
    select queue, key, ids, :client_id, rank, clock_timestamp() + make_interval(secs => delay_s)
    from json_to_recordset(cast(:rows as json))
         as w (queue text, key text, ids jsonb, rank int, delay_s float)
    on conflict (queue, key) where state = 'live' do update set
        ids = excluded.ids,
        severity_rank = greatest(jobs.severity_rank, excluded.severity_rank),
        again_at = case when jobs.running
                        then least(coalesce(jobs.again_at, excluded.run_at), excluded.run_at) end,
        run_at = case when jobs.running then jobs.run_at
                      else least(jobs.run_at, excluded.run_at) end
""")
_CLAIM = text("""
    with busy as (
        select client_id, count(*) as running from jobs
        where state = 'live' and running and run_at > clock_timestamp() and queue = :queue
        group by client_id
    ), due as (
        select jobs.id, jobs.claims_without_verb,
               coalesce(busy.running, 0) + row_number() over (
                   partition by jobs.client_id order by jobs.severity_rank desc, jobs.run_at
               ) as place
        from jobs left join busy using (client_id)
        where queue = :queue and state = 'live' and run_at <= clock_timestamp()
    ), taken as (
        select jobs.id from jobs join due using (id)
        where due.place <= :per_client and jobs.state = 'live'
          and jobs.run_at <= clock_timestamp()
        order by jobs.severity_rank desc, jobs.run_at
        limit :limit for update of jobs skip locked
    )
    update jobs set
        running = true, again_at = null, fence = fence + 1, delivery = delivery + 1,
        claims_without_verb = claims_without_verb + 1,
        run_at = clock_timestamp() + make_interval(secs => :lease_s)
    from taken where jobs.id = taken.id
    returning jobs.id, jobs.queue, jobs.key, jobs.ids, jobs.client_id, jobs.delivery, jobs.fence,
              jobs.claims_without_verb
""")
_HELD = "where id = :id and fence = :fence and running and state = 'live'"
_AGAIN = text(f"""
    update jobs set running = false, run_at = again_at, again_at = null, delivery = 0,
                    claims_without_verb = 0, error = null
    {_HELD} and again_at is not null
""")  # noqa: S608 - a constant
_DONE = text(f"delete from jobs {_HELD} and again_at is null")  # noqa: S608 - a constant
_NAK = text(f"""
    update jobs set running = false, claims_without_verb = 0, error = :error, again_at = null,
                    run_at = clock_timestamp() + make_interval(secs => :delay_s)
    {_HELD}
""")  # noqa: S608 - a constant
_DEAD = text(f"""
    update jobs set running = false, state = 'dead', dead_reason = :reason, error = :error,
                    dead_at = clock_timestamp()
    {_HELD}
""")  # noqa: S608 - a constant
_LETTER = text("""
    insert into dead_letters (client_id, kind, subject_id, reason, error)
    values (:client_id, :kind, :subject_id, :reason, :error)
""")
_RENEW = text(f"""
    update jobs set run_at = clock_timestamp() + make_interval(secs => :lease_s) {_HELD}
""")  # noqa: S608 - a constant
_DEPTH = text("""
    select count(*), coalesce(extract(epoch from clock_timestamp() - min(run_at)), 0)
    from jobs where queue = :queue and state = 'live' and run_at <= clock_timestamp()
""")
_WAITING = text("""
    select count(*) from jobs
    where queue = :queue and client_id = :client_id and state = 'live' and not running
""")


class JobRows:
    """Jobs inside one transaction."""

    def __init__(self, session: AsyncSession) -> None:
        """Speak through an open session."""
        self._session = session

    async def enqueue(
        self,
        queue: Queue,
        ids: Mapping[str, str],
        *,
        key: str,
        client_id: str,
        rank: int = 0,
        delay_s: float = 0,
    ) -> None:
        """Add a job, or make the one with this key due at the earlier of the two times."""
        await self.enqueue_all(client_id, [JobWish(queue, ids, key, rank, delay_s)])

    async def enqueue_all(self, client_id: str, wishes: Sequence[JobWish]) -> None:
        """Add many jobs of a client, each key once a queue."""
        if not wishes:
            return
        # In one order always, so that writers never cross.
        ordered = sorted(wishes, key=lambda wish: (wish.queue, wish.key))
        rows = json.dumps([wish._asdict() for wish in ordered])
        await self._session.execute(_ENQUEUE, {"client_id": client_id, "rows": rows})
        await self._session.execute(text("select pg_notify('caveat_jobs', '')"))

    async def claim(
        self, queue: Queue, limit: int, *, per_client: int, lease_s: float = LEASE_S
    ) -> tuple[list[Delivery], list[Delivery]]:
        """Take due jobs; the second list holds those whose claims keep ending in no verb."""
        rows = await self._session.execute(
            _CLAIM,
            {"queue": queue.value, "limit": limit, "per_client": per_client, "lease_s": lease_s},
        )
        good: list[Delivery] = []
        looping: list[Delivery] = []
        for row in rows:
            delivery = Delivery(
                job_id=str(row.id),
                queue=Queue(row.queue),
                key=row.key,
                ids=row.ids,
                client_id=row.client_id,
                number=row.delivery,
                fence=row.fence,
            )
            (looping if row.claims_without_verb > CRASH_LOOP else good).append(delivery)
        return good, looping

    async def finish(self, delivery: Delivery) -> bool:
        """Acknowledge; when it was asked for again meanwhile, one more delivery stays owed."""
        if await self._verb(_AGAIN, delivery):
            await self._session.execute(text("select pg_notify('caveat_jobs', '')"))
            return True
        return await self._verb(_DONE, delivery)

    async def nak(self, delivery: Delivery, delay_s: float, error: str) -> bool:
        """Give it back, due again after `delay_s`."""
        return await self._verb(_NAK, delivery, delay_s=delay_s, error=error)

    async def term(self, delivery: Delivery, reason: DeadReason, error: str) -> bool:
        """Give it up, with a dead-letter row."""
        if not await self._verb(_DEAD, delivery, reason=reason.value, error=error):
            return False
        await self._session.execute(
            _LETTER,
            {
                "client_id": delivery.client_id,
                "kind": delivery.queue.value,
                "subject_id": delivery.key,
                "reason": reason.value,
                "error": error,
            },
        )
        return True

    async def renew(self, delivery: Delivery, lease_s: float = LEASE_S) -> bool:
        """Hold the claim for longer."""
        return await self._verb(_RENEW, delivery, lease_s=lease_s)

    async def depth(self, queue: Queue) -> tuple[int, float]:
        """Jobs that are due, and the age in seconds of the oldest of them."""
        row = (await self._session.execute(_DEPTH, {"queue": queue.value})).one()
        return int(row[0]), max(0.0, float(row[1]))

    async def waiting(self, queue: Queue, client_id: str) -> int:
        """Jobs of a client nobody works on yet, due or not."""
        asked = {"queue": queue.value, "client_id": client_id}
        return int((await self._session.execute(_WAITING, asked)).scalar_one())

    async def _verb(self, statement: TextClause, delivery: Delivery, **values: object) -> bool:
        held = {"id": int(delivery.job_id), "fence": delivery.fence}
        result = await self._session.execute(statement, held | values)
        return cast("CursorResult[Any]", result).rowcount == 1
