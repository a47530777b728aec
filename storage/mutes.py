"""Families that may not ring for a while."""

from datetime import datetime
from typing import NamedTuple

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

_KEEP = text("""
    insert into mutes (client_id, family_key, until, by)
    values (:client_id, :family_key, :until, :by)
    on conflict (client_id, family_key) do update set
        until = greatest(mutes.until, excluded.until), by = excluded.by, at = clock_timestamp()
""")
_STANDING = text("""
    select until, by from mutes
    where client_id = :client_id and family_key = :family_key and until > clock_timestamp()
""")


class Mute(NamedTuple):
    """Until when, and who asked for it."""

    until: datetime
    by: str


class MuteRows:
    """Mutes by client and family."""

    def __init__(self, session: AsyncSession) -> None:
        """Speak through an open session."""
        self._session = session

    async def keep(self, client_id: str, family_key: str, until: datetime, by: str) -> None:
        """Mute a family; a later time wins over an earlier one."""
        values = {"client_id": client_id, "family_key": family_key, "until": until, "by": by}
        await self._session.execute(_KEEP, values)

    async def standing(self, client_id: str, family_key: str) -> Mute | None:
        """The mute that holds now."""
        asked = {"client_id": client_id, "family_key": family_key}
        row = (await self._session.execute(_STANDING, asked)).one_or_none()
        return None if row is None else Mute(row.until, row.by)
