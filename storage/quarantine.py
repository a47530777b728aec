"""What could not be read, kept so that it can be seen and replayed."""

from datetime import datetime

from pydantic import AwareDatetime
from sqlalchemy import select, text, update
from sqlalchemy.ext.asyncio import AsyncSession

from engine.model.base import Frozen, digest
from storage.tables import QuarantineRow

MAX_BODY = 65_536
"""Characters of a body that are kept."""

_ADD = text("""
    insert into quarantine (client_id, source, reason, body, size, body_hash, at)
    values (:client_id, :source, :reason, :body, :size, :body_hash, :now)
    on conflict (client_id, source, body_hash) where replayed_at is null
    do update set seen = quarantine.seen + 1, at = excluded.at
    returning id
""")


class Quarantined(Frozen):
    """A body that could not be read."""

    id: int
    client_id: str | None
    source: str
    reason: str
    body: str
    size: int
    """Characters it had before it was cut."""
    seen: int
    at: AwareDatetime


class QuarantineRows:
    """Bodies nobody could read."""

    def __init__(self, session: AsyncSession) -> None:
        """Speak through an open session."""
        self._session = session

    async def add(
        self, client_id: str | None, source: str, reason: str, body: str, now: datetime
    ) -> int:
        """Keep a redacted body, once however often it comes; returns its id."""
        kept = body.encode("utf-8", "replace").decode().replace("\0", "\ufffd")
        found = await self._session.execute(
            _ADD,
            {
                "client_id": client_id,
                "source": source,
                "reason": reason,
                "body": kept[:MAX_BODY],
                "size": len(body),
                "body_hash": digest(body),
                "now": now,
            },
        )
        return int(found.scalar_one())

    async def waiting(self, client_id: str | None = None, limit: int = 100) -> list[Quarantined]:
        """Bodies not replayed yet, newest first; of one client, or of all."""
        wanted = select(*_COLUMNS).where(QuarantineRow.replayed_at.is_(None))
        if client_id is not None:
            wanted = wanted.where(QuarantineRow.client_id == client_id)
        newest = wanted.order_by(QuarantineRow.at.desc(), QuarantineRow.id.desc()).limit(limit)
        found = await self._session.execute(newest)
        return [Quarantined.model_validate(row._asdict()) for row in found]

    async def get(self, quarantine_id: int) -> Quarantined | None:
        """One body that was not replayed yet."""
        found = await self._session.execute(
            select(*_COLUMNS).where(
                QuarantineRow.id == quarantine_id, QuarantineRow.replayed_at.is_(None)
            )
        )
        row = found.one_or_none()
        return None if row is None else Quarantined.model_validate(row._asdict())

    async def replayed(self, quarantine_id: int, now: datetime) -> None:
        """Mark a body as read after all; the same body may be quarantined afresh."""
        await self._session.execute(
            update(QuarantineRow).where(QuarantineRow.id == quarantine_id).values(replayed_at=now)
        )


_COLUMNS = tuple(getattr(QuarantineRow, name) for name in Quarantined.model_fields)
