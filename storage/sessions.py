"""Steps of every session, in the order they happened."""

from collections.abc import Sequence

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from engine.model.event import EventFacts, SessionEvent, Step
from engine.model.run import Run
from storage.tables import RunRow, SessionEventRow

MOST = 2_000
"""Steps read at once; no triage has more."""


class SessionRows:
    """What happened in each run."""

    def __init__(self, session: AsyncSession) -> None:
        """Speak through an open session."""
        self._session = session

    async def append(self, run: Run, kind: SessionEvent, facts: EventFacts) -> None:
        """Keep one step."""
        row = SessionEventRow(
            client_id=run.client_id, triage_id=run.triage_id, kind=kind.value, facts=dict(facts)
        )
        self._session.add(row)
        await self._session.flush()

    async def of_triage(self, triage_id: str, after: int = 0) -> Sequence[Step]:
        """The steps of a run after one of them, oldest first."""
        mine = select(SessionEventRow).where(
            SessionEventRow.triage_id == triage_id, SessionEventRow.id > after
        )
        rows = await self._session.execute(mine.order_by(SessionEventRow.id).limit(MOST))
        return [_step(row) for row in rows.scalars()]

    async def newest_of(self, incident_id: str, client_id: str | None) -> str | None:
        """The triage of an incident that was asked for last; a client's id leaves others out."""
        held = select(RunRow.triage_id).where(RunRow.incident_id == incident_id)
        if client_id is not None:
            held = held.where(RunRow.client_id == client_id)
        newest = held.order_by(RunRow.created_at.desc()).limit(1)
        return (await self._session.execute(newest)).scalar_one_or_none()


def _step(row: SessionEventRow) -> Step:
    return Step(
        id=row.id,
        triage_id=row.triage_id,
        kind=SessionEvent(row.kind),
        facts=row.facts,
        at=row.at,
    )
