"""Outages of model providers: opened by a refusal, closed by an answer, tried by one at a time."""

from collections.abc import Sequence

from sqlalchemy import TextClause, text
from sqlalchemy.ext.asyncio import AsyncSession

from engine.model.outage import Outage, OutageKind
from engine.model.run import RunTrigger
from engine.ports import Stopped

_COLUMNS = ", ".join(Outage.model_fields)
_LOCK = text("select pg_advisory_xact_lock(hashtextextended('outage ' || :provider, 0))")
_OPEN = text(f"""
    select {_COLUMNS} from model_outages where provider = :provider and closed_at is null
""")  # noqa: S608 - our own column names
_GET = text(f"select {_COLUMNS} from model_outages where id = :id")  # noqa: S608 - as above
_REOPEN = text("""
    update model_outages set closed_at = null, refusals = 0, shut = false
    where id = (
        select id from model_outages where provider = :provider and kind = :kind
          and opened_at > clock_timestamp() - interval '1 hour'
        order by opened_at desc limit 1
    )
    returning id
""")
_ADD = text("""
    insert into model_outages (id, provider, kind, detail) values (:id, :provider, :kind, '')
""")
_REFUSED = text(f"""
    update model_outages set
        refusals = refusals + 1, shut = shut or refusals + 1 >= :shut_at, detail = :detail,
        kind = :kind,
        retry_at = clock_timestamp() + make_interval(secs => :wait_s), trial_until = null
    where provider = :provider and closed_at is null
    returning {_COLUMNS}
""")  # noqa: S608 - our own column names
_ANSWERED = text(f"""
    update model_outages set closed_at = clock_timestamp(), trial_until = null
    where provider = :provider and closed_at is null
    returning {_COLUMNS}
""")  # noqa: S608 - our own column names
_TRY = text("""
    update model_outages set trial_until = clock_timestamp() + make_interval(secs => :hold_s)
    where provider = :provider and closed_at is null
      and (trial_until is null or trial_until <= clock_timestamp())
    returning id
""")
_STOPPED = text("""
    select incidents.id, incidents.client_id, incidents.severity,
           newest.run ->> 'trigger' as trigger
    from incidents cross join lateral (
        select run, state from triage_runs where incident_id = incidents.id
        order by created_at desc limit 1
    ) as newest
    where incidents.state = 'open' and (
        newest.run ->> 'skip_reason' = 'breaker_open'
        or :given_up and newest.state = 'failed'
           and newest.run ->> 'failure' in ('operator_action_required', 'terminal')
           and (newest.run ->> 'finished_at')::timestamptz >= :since
    )
    order by incidents.opened_at
""")
_RESUMED = text("""
    update dead_letters set resumed_at = clock_timestamp()
    where kind = 'triage' and subject_id = :incident_id and resumed_at is null returning id
""")


class OutageRows:
    """Outages of every provider."""

    def __init__(self, session: AsyncSession) -> None:
        """Speak through an open session."""
        self._session = session

    async def open(self, provider: str) -> Outage | None:
        """The outage a provider is in."""
        return await self._one(_OPEN, provider=provider)

    async def get(self, outage_id: str) -> Outage | None:
        """One outage, over or not."""
        return await self._one(_GET, id=outage_id)

    async def refused(
        self,
        provider: str,
        kind: OutageKind,
        detail: str,
        *,
        new_id: str,
        shut_at: int,
        wait_s: float,
    ) -> Outage:
        """Count a refusal; one of the same kind within the hour is the same outage again."""
        whose = {"provider": provider, "kind": kind.value}
        await self._session.execute(_LOCK, {"provider": provider})
        if await self.open(provider) is None and await self._none(_REOPEN, **whose):
            await self._session.execute(_ADD, {**whose, "id": new_id})
        found = await self._one(_REFUSED, **whose, detail=detail, shut_at=shut_at, wait_s=wait_s)
        assert found is not None, "it was opened in this transaction"
        return found

    async def answered(self, provider: str) -> Outage | None:
        """End the outage a provider was in, if it was in one."""
        return await self._one(_ANSWERED, provider=provider)

    async def try_once(self, provider: str, hold_s: float) -> bool:
        """Take the one trial there is; False when another has it."""
        return not await self._none(_TRY, provider=provider, hold_s=hold_s)

    async def stopped(self, outage: Outage, *, given_up: bool) -> Sequence[Stopped]:
        """Open incidents that wait for a provider, the worst first; those given up too."""
        asked = {"given_up": given_up, "since": outage.opened_at}
        rows = await self._session.execute(_STOPPED, asked)
        found = [
            Stopped(row.id, row.client_id, row.severity, RunTrigger(row.trigger)) for row in rows
        ]
        return sorted(found, key=lambda one: -one.rank)

    async def resumed(self, incident_id: str) -> int:
        """Mark the dead letters of an incident as taken up again; give how many."""
        marked = await self._session.execute(_RESUMED, {"incident_id": incident_id})
        return len(marked.all())

    async def _one(self, statement: TextClause, **values: object) -> Outage | None:
        row = (await self._session.execute(statement, values)).one_or_none()
        return None if row is None else Outage.model_validate(row._asdict())

    async def _none(self, statement: TextClause, **values: object) -> bool:
        return (await self._session.execute(statement, values)).one_or_none() is None
