"""Dead letters: what was given up, and triages taken up again by hand."""

from collections.abc import Sequence

from pydantic import AwareDatetime
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from engine.model.alert import Severity
from engine.model.base import Frozen
from engine.model.run import RunTrigger
from engine.ports import Queue
from storage.audit import AuditRows
from storage.jobs import JobRows
from storage.outages import OutageRows

_WAITING = text("""
    select dead_letters.id, dead_letters.client_id, kind, subject_id, reason, error, at,
           incidents.number
    from dead_letters left join incidents on incidents.id = subject_id
    where resumed_at is null order by at desc limit :limit
""")
_INCIDENT = text("""
    select id, severity, state from incidents where client_id = :client_id and number = :number
""")


class LetterError(Exception):
    """What was asked for cannot be taken up; the text says why."""


class Letter(Frozen):
    """Something that was given up."""

    id: int
    client_id: str
    kind: str
    subject_id: str
    number: int | None
    """Of the incident it is about."""
    reason: str
    error: str
    at: AwareDatetime


class LetterRows:
    """Dead letters of every client."""

    def __init__(self, session: AsyncSession, audit: AuditRows) -> None:
        """Speak through an open session."""
        self._session = session
        self._audit = audit

    async def waiting(self, limit: int) -> Sequence[Letter]:
        """What nobody took up again, newest first."""
        rows = await self._session.execute(_WAITING, {"limit": limit})
        return [Letter.model_validate(row._asdict()) for row in rows]

    async def retriage(self, client_id: str, number: int, *, by: str) -> int:
        """Have an incident investigated as if somebody had pressed; gives letters taken up.

        Raises:
            LetterError: there is no such incident, or it is over.
        """
        asked = {"client_id": client_id, "number": number}
        row = (await self._session.execute(_INCIDENT, asked)).one_or_none()
        if row is None:
            raise LetterError(f"{client_id} has no incident {number}")
        if row.state != "open":
            raise LetterError(f"incident {number} is {row.state}: only open ones are investigated")
        await JobRows(self._session).enqueue(
            Queue.TRIAGE,
            {"incident_id": row.id, "trigger": RunTrigger.MANUAL.value},
            key=row.id,
            client_id=client_id,
            rank=Severity(row.severity).rank,
        )
        resumed = await OutageRows(self._session).resumed(row.id)
        facts = {"incident_id": row.id, "dead_letters": resumed}
        await self._audit.append(client_id, by, "incident.retriage", facts)
        return resumed
