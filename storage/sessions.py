"""Steps of every session, in the order they happened."""

from sqlalchemy.ext.asyncio import AsyncSession

from engine.model.event import EventFacts, SessionEvent
from engine.model.run import Run
from storage.tables import SessionEventRow


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
