"""Triage runs: the state that both queue adapters point at."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import select, text, update
from sqlalchemy.ext.asyncio import AsyncSession

from engine.model.ledger import ToolName
from engine.model.run import Run, RunState, RunTrigger
from engine.ports import Stopped
from storage.tables import RunRow

_UNPAID = text("""
    select incidents.id, incidents.client_id, incidents.severity,
           newest.run ->> 'trigger' as trigger
    from incidents cross join lateral (
        select run from triage_runs where incident_id = incidents.id
        order by created_at desc limit 1
    ) as newest
    where incidents.client_id = :client_id and incidents.state = 'open'
      and newest.run ->> 'skip_reason' = 'budget'
      and (newest.run ->> 'finished_at')::timestamptz < :since
      and exists (
        select from incident_members
        where incident_id = incidents.id and incident_members.state = 'firing'
      )
      and not exists (
        select from jobs where queue = 'triage' and key = incidents.id and state = 'live'
      )
    order by incidents.opened_at
""")
_OWN = {"fence"}
"""Kept in a column of its own: a run is shown to people, its fence is not."""


def run_of(row: RunRow) -> Run:
    """Read a run."""
    return Run.model_validate({**row.run, "fence": row.fence or ""})


class RunRows:
    """Runs by their triage id."""

    def __init__(self, session: AsyncSession) -> None:
        """Speak through an open session."""
        self._session = session

    async def add(self, run: Run) -> None:
        """Record a run that was asked for."""
        row = RunRow(triage_id=run.triage_id, incident_id=run.incident_id, **_columns(run))
        self._session.add(row)
        await self._session.flush()

    async def get(self, triage_id: str) -> Run | None:
        """One run as it stands now."""
        row = await self._session.get(RunRow, triage_id, populate_existing=True)
        return None if row is None else run_of(row)

    async def newest(self, incident_id: str) -> Run | None:
        """The run of an incident that was asked for last."""
        asked = select(RunRow).where(RunRow.incident_id == incident_id)
        newest = asked.order_by(RunRow.created_at.desc()).limit(1)
        found = await self._session.execute(newest.execution_options(populate_existing=True))
        row = found.scalar_one_or_none()
        return None if row is None else run_of(row)

    async def save(self, run: Run) -> None:
        """Record where it stands now.

        Raises:
            LookupError: it was never added.
        """
        known = RunRow.triage_id == run.triage_id
        saved = await self._session.execute(update(RunRow).where(known).values(**_columns(run)))
        if not saved.rowcount:  # type: ignore[attr-defined]
            raise LookupError(f"no run {run.triage_id!r}")

    async def stop(self, triage_id: str, by: str) -> bool:
        """Ask a run to stop looking; False when somebody did."""
        asked = update(RunRow).where(RunRow.triage_id == triage_id, RunRow.stopped_by.is_(None))
        done = await self._session.execute(asked.values(stopped_by=by))
        return bool(done.rowcount)  # type: ignore[attr-defined]

    async def stopped(self, triage_id: str) -> str | None:
        """Who asked a run to stop looking."""
        asked = select(RunRow.stopped_by).where(RunRow.triage_id == triage_id)
        found: str | None = (await self._session.execute(asked)).scalar_one_or_none()
        return found

    async def unpaid(self, client_id: str, since: datetime) -> Sequence[Stopped]:
        """Incidents that fire and were left for lack of money before then, the worst first."""
        rows = await self._session.execute(_UNPAID, {"client_id": client_id, "since": since})
        found = [
            Stopped(row.id, row.client_id, row.severity, RunTrigger(row.trigger)) for row in rows
        ]
        return sorted(found, key=lambda one: -one.rank)

    async def tools_before(self, run: Run) -> Sequence[ToolName]:
        """Tools that the client's last finished run before this one was offered."""
        before = select(RunRow).where(
            RunRow.client_id == run.client_id,
            RunRow.triage_id != run.triage_id,
            RunRow.state == RunState.DONE.value,
        )
        newest = before.order_by(RunRow.created_at.desc()).limit(1)
        row = (await self._session.execute(newest)).scalar_one_or_none()
        return () if row is None else run_of(row).tools


def _columns(run: Run) -> dict[str, object]:
    return {
        "client_id": run.client_id,
        "state": run.state.value,
        "run": run.model_dump(mode="json", exclude=_OWN),
        "fence": run.fence or None,
    }
