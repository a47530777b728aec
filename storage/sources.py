"""Senders of alerts and changes; a token decides whose they are."""

import hashlib
from collections.abc import Collection
from datetime import datetime
from typing import Any

from sqlalchemy import Row, select, text, update
from sqlalchemy.ext.asyncio import AsyncSession

from engine.model.standing import SourceState
from storage.tables import SourceRow

QUIET_S = 5.0
"""A source that speaks more often than this is noted this often."""

_SEEN = text("""
    update sources set
        first_seen_at = coalesce(first_seen_at, :now), last_seen_at = :now,
        polled_at = case when :polled then :now else polled_at end
    where id = :id and (first_seen_at is null
                        or last_seen_at < :now - make_interval(secs => :quiet_s))
""")
_DECLARE = text("""
    insert into sources (id, client_id, name, kind, token_hash, token_declared)
    values (:id, :client_id, :name, :kind, :token_hash, :token_declared)
    on conflict on constraint one_source do update set
        token_hash = case
            when excluded.token_hash is null and not sources.token_declared then sources.token_hash
            else excluded.token_hash
        end,
        token_declared = excluded.token_declared
    returning id
""")
_STATE = tuple(getattr(SourceRow, name) for name in SourceState.model_fields)


def token_hash(token: str) -> str:
    """How a token is kept: SHA-256; it is long and random, so no salt is needed."""
    return hashlib.sha256(token.encode()).hexdigest()


def _state_of(row: Row[Any] | None) -> SourceState | None:
    return None if row is None else SourceState.model_validate(row._asdict())


class SourceRows:
    """Sources of every client."""

    def __init__(self, session: AsyncSession) -> None:
        """Speak through an open session."""
        self._session = session

    async def declare(
        self, source_id: str, client_id: str, *, kind: str, name: str, token: str | None
    ) -> str:
        """Make a source what the configuration says; returns the id it has.

        Without a token it keeps one that the command line set, and loses one that an earlier
        configuration set.
        """
        return await self._put(source_id, client_id, kind, name, token, declared=token is not None)

    async def renew(
        self, source_id: str, client_id: str, *, kind: str, name: str, token: str
    ) -> str:
        """Give a source a token the configuration knows nothing of; returns the id it has."""
        return await self._put(source_id, client_id, kind, name, token, declared=False)

    async def _put(
        self,
        source_id: str,
        client_id: str,
        kind: str,
        name: str,
        token: str | None,
        *,
        declared: bool,
    ) -> str:
        values = {
            "id": source_id,
            "client_id": client_id,
            "kind": kind,
            "name": name,
            "token_hash": None if token is None else token_hash(token),
            "token_declared": declared,
        }
        found = await self._session.execute(_DECLARE, values)
        return str(found.scalar_one())

    async def retire(self, configured: Collection[str]) -> list[str]:
        """Take back tokens that came with clients no longer configured; says which sources'."""
        taken = await self._session.execute(
            update(SourceRow)
            .where(SourceRow.token_declared, SourceRow.client_id.not_in(configured))
            .values(token_hash=None, token_declared=False)
            .returning(SourceRow.id)
        )
        return sorted(taken.scalars())

    async def forget_token(self, source_id: str) -> None:
        """Let no token open a source any more."""
        await self._session.execute(
            update(SourceRow).where(SourceRow.id == source_id).values(token_hash=None)
        )

    async def by_token_hash(self, kind: str, hashed: str) -> SourceState | None:
        """The source of this kind that holds the token."""
        found = await self._session.execute(
            select(*_STATE).where(SourceRow.kind == kind, SourceRow.token_hash == hashed)
        )
        return _state_of(found.one_or_none())

    async def get(self, source_id: str) -> SourceState | None:
        """One source."""
        found = await self._session.execute(select(*_STATE).where(SourceRow.id == source_id))
        return _state_of(found.one_or_none())

    async def of_client(self, client_id: str) -> list[SourceState]:
        """Every source of a client."""
        found = await self._session.execute(
            select(*_STATE).where(SourceRow.client_id == client_id).order_by(SourceRow.id)
        )
        return [SourceState.model_validate(row._asdict()) for row in found]

    async def seen(self, source_id: str, now: datetime, *, polled: bool) -> None:
        """Remember that a source spoke."""
        await self._session.execute(
            _SEEN, {"id": source_id, "now": now, "polled": polled, "quiet_s": QUIET_S}
        )
