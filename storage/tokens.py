"""Tokens of the API: only their hash is kept, and each ends by itself."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Row, select, text
from sqlalchemy.ext.asyncio import AsyncSession

from engine.model.base import digest
from engine.model.token import HUMAN_ONLY, ApiToken, Scope, TokenKind
from storage.audit import AuditRows
from storage.sources import token_hash
from storage.tables import ApiTokenRow, ClientRow

MOST_DAYS = 366
"""A token that outlives everybody's memory of it is refused."""

_STATE = tuple(getattr(ApiTokenRow, name) for name in ApiToken.model_fields)
_NAMES = ", ".join(ApiToken.model_fields)
_ADD = text(f"""
    insert into api_tokens (id, token_hash, name, kind, scopes, client_id, expires_at)
    values (:id, :token_hash, :name, :kind, :scopes, :client_id,
            clock_timestamp() + make_interval(days => :days))
    on conflict do nothing returning {_NAMES}
""")  # noqa: S608 names of our own fields
_REVOKE = text("""
    update api_tokens set revoked_at = clock_timestamp()
    where name = :name and revoked_at is null returning id, client_id
""")


class TokenError(Exception):
    """A token that cannot be had or taken back; the text says why."""


class TokenRows:
    """Tokens of the API; every change leaves its audit row in the same transaction."""

    def __init__(self, session: AsyncSession, audit: AuditRows) -> None:
        """Speak through an open session."""
        self._session = session
        self._audit = audit

    async def add(
        self,
        secret: str,
        *,
        name: str,
        kind: TokenKind,
        scopes: Sequence[Scope],
        client_id: str | None,
        days: int,
        by: str,
    ) -> ApiToken:
        """Keep a fresh token; `client_id` None opens every client.

        Raises:
            TokenError: the name is empty or taken, it opens nothing or too much, or for too long.
        """
        name, held = " ".join(name.split()), sorted(set(scopes))
        await self._check(name, kind, held, client_id, days)
        hashed = token_hash(secret)
        values = {
            "id": digest(f"token {hashed}", 32),
            "token_hash": hashed,
            "name": name,
            "kind": kind.value,
            "scopes": [scope.value for scope in held],
            "client_id": client_id,
            "days": days,
        }
        row = (await self._session.execute(_ADD, values)).one_or_none()
        if row is None:
            raise TokenError(f"there is a token named {name!r} already; revoke it first")
        facts = {"token": row.id, "name": name, "kind": kind.value, "days": days}
        await self._audit.append(
            client_id, by, "api token made", {**facts, "scopes": ",".join(held)}
        )
        return _token_of(row)

    async def every(self) -> list[ApiToken]:
        """Every token there ever was, newest first."""
        rows = await self._session.execute(select(*_STATE).order_by(ApiTokenRow.made_at.desc()))
        return [_token_of(row) for row in rows]

    async def live(self, secret: str) -> ApiToken | None:
        """The token with this secret; None when unknown, taken back or out of time."""
        found = select(*_STATE).where(
            ApiTokenRow.token_hash == token_hash(secret),
            ApiTokenRow.revoked_at.is_(None),
            ApiTokenRow.expires_at > text("clock_timestamp()"),
        )
        row = (await self._session.execute(found)).one_or_none()
        return None if row is None else _token_of(row)

    async def revoke(self, name: str, *, by: str) -> None:
        """Take a token back; in effect at its next use.

        Raises:
            TokenError: no token of this name is left.
        """
        row = (await self._session.execute(_REVOKE, {"name": name})).one_or_none()
        if row is None:
            raise TokenError(f"no token named {name!r}; `caveat token list` lists every one")
        facts = {"token": row.id, "name": name}
        await self._audit.append(row.client_id, by, "api token revoked", facts)

    async def _check(
        self, name: str, kind: TokenKind, scopes: Sequence[Scope], client_id: str | None, days: int
    ) -> None:
        if not name:
            raise TokenError("a token needs a name")
        if not scopes:
            raise TokenError("a token needs a scope")
        barred = HUMAN_ONLY.intersection(scopes)
        if barred and kind is not TokenKind.HUMAN:
            raise TokenError(f"{', '.join(sorted(barred))} is for tokens of kind human only")
        if not 1 <= days <= MOST_DAYS:
            raise TokenError(f"a token lives for 1 to {MOST_DAYS} days")
        if client_id is not None and await self._session.get(ClientRow, client_id) is None:
            raise TokenError(f"no client named {client_id!r}")


def _token_of(row: Row[Any]) -> ApiToken:
    return ApiToken.model_validate(row._asdict())
