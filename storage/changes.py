"""Changes as change sources reported them."""

from collections.abc import Mapping
from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from engine.model.base import canonical_json, digest
from engine.model.change import Change
from storage.tables import ChangeRow, SourceRow

CHANGES = "changes"
"""The kind of a source that tells changes."""


class ChangeRows:
    """Changes of every client."""

    def __init__(self, session: AsyncSession) -> None:
        """Speak through an open session."""
        self._session = session

    async def add(self, client_id: str, change: Change) -> bool:
        """Keep a change; False when it was known already."""
        values = change.model_dump(mode="python", exclude={"dedup_key"}) | {
            "client_id": client_id,
            "kind": change.kind.value,
            "labels": dict(change.labels),
            "dedup_key": change.dedup_key or _identity(change),
        }
        added = await self._session.execute(
            insert(ChangeRow)
            .values(values)
            .on_conflict_do_nothing(constraint="one_change")
            .returning(ChangeRow.id)
        )
        return added.one_or_none() is not None

    async def between(self, client_id: str, start_at: datetime, end_at: datetime) -> list[Change]:
        """Changes of a client, newest first."""
        found = await self._session.execute(
            select(*_COLUMNS)
            .where(
                ChangeRow.client_id == client_id,
                ChangeRow.at >= start_at,
                ChangeRow.at <= end_at,
            )
            .order_by(ChangeRow.at.desc(), ChangeRow.id.desc())
        )
        return [Change.model_validate(row._asdict()) for row in found]

    async def sources(self, client_id: str) -> int:
        """How many change sources ever spoke for this client."""
        found = await self._session.execute(
            select(func.count())
            .select_from(SourceRow)
            .where(
                SourceRow.client_id == client_id,
                SourceRow.kind == CHANGES,
                SourceRow.first_seen_at.is_not(None),
            )
        )
        return int(found.scalar_one())


_COLUMNS = tuple(getattr(ChangeRow, name) for name in Change.model_fields)


def _identity(change: Change) -> str:
    """What makes two reports the same change where its source gives no key."""
    said: Mapping[str, object] = change.model_dump(mode="json", exclude={"dedup_key"})
    return digest(canonical_json(said), 32)
