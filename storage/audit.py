"""The audit trail: append-only, each row's keyed mark covers the one before it."""

import hashlib
import hmac
from collections.abc import Mapping
from datetime import datetime
from typing import Any, cast

from sqlalchemy import CursorResult, delete, func, select, text
from sqlalchemy.ext.asyncio import AsyncSession

from engine.model.base import canonical_json
from storage.tables import AuditRow

_CHAIN = 4_202_611_302
"""Advisory lock under which the chain grows by one row at a time."""


def mark_of(key: bytes, before: str, row: Mapping[str, Any]) -> str:
    """Seal one row: HMAC-SHA-256 over the mark before it and its own canonical JSON."""
    return hmac.new(key, (before + canonical_json(row)).encode(), hashlib.sha256).hexdigest()


class AuditRows:
    """Who changed what, in the transaction of the change."""

    def __init__(self, session: AsyncSession, key: bytes) -> None:
        """Speak through an open session and seal with the install's key."""
        self._session = session
        self._key = key

    async def append(
        self, client_id: str | None, actor: str, action: str, facts: Mapping[str, str | int | None]
    ) -> None:
        """Record one change; rows of concurrent transactions queue up for their place."""
        await self._session.execute(text("select pg_advisory_xact_lock(:k)"), {"k": _CHAIN})
        newest = select(AuditRow.mark).order_by(AuditRow.id.desc()).limit(1)
        before = (await self._session.execute(newest)).scalar_one_or_none() or ""
        at = (await self._session.execute(select(func.clock_timestamp()))).scalar_one()
        content = {
            "client_id": client_id,
            "at": at.isoformat(),
            "actor": actor,
            "action": action,
            "facts": dict(facts),
        }
        row = AuditRow(
            client_id=client_id,
            at=at,
            actor=actor,
            action=action,
            facts=dict(facts),
            mark=mark_of(self._key, before, content),
        )
        self._session.add(row)
        await self._session.flush()

    async def forget(self, before: datetime) -> int:
        """Forget the trail up to `before`; a new row seals how far, so that a cut is no gap."""
        await self._session.execute(text("select pg_advisory_xact_lock(:k)"), {"k": _CHAIN})
        old = select(AuditRow.id, AuditRow.mark).where(AuditRow.at < before)
        last = (
            await self._session.execute(old.order_by(AuditRow.id.desc()).limit(1))
        ).one_or_none()
        if last is None:
            return 0
        # The summary first: it continues the chain from the newest row, which may go as well.
        facts = {"through": last.id, "mark": last.mark}
        await self.append(None, "engine", "audit forgotten", facts)
        gone = await self._session.execute(delete(AuditRow).where(AuditRow.id <= last.id))
        return cast("CursorResult[Any]", gone).rowcount
