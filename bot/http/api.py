"""The API for reading: what is known of an alert group, to whoever holds a token for it."""

import asyncio
import logging

from fastapi.responses import JSONResponse, Response

from engine.errors import StoreUnavailableError
from engine.model.token import ApiToken, Scope
from storage.findings import Told
from storage.store import SqlStore

log = logging.getLogger(__name__)

STORE_S = 5.0
"""A reader hears 503 rather than wait longer for our database."""
COMPLETE = "X-Caveat-Complete"
"""`false` until the pack is frozen: what is known may still grow."""
NOBODYS = "no such alert group"
"""Said alike of what there is not, what is another client's, and what nothing is known of."""


class Refused(Exception):  # noqa: N818 a refusal is the answer, not a fault
    """The reader may not have what it asked for."""

    def __init__(self, status: int, reason: str) -> None:
        """Keep the HTTP status and what the reader is told."""
        super().__init__(reason)
        self.status = status
        self.reason = reason


class Api:
    """Answers readers; a token is looked at afresh for every request."""

    def __init__(self, store: SqlStore, store_s: float = STORE_S) -> None:
        """Read from `store`; `store_s` bounds the wait for it."""
        self._store = store
        self._store_s = store_s

    async def context(self, group_id: str, secret: str | None) -> Response:
        """Give the pack of an alert group, byte for byte as it is kept."""
        try:
            async with asyncio.timeout(self._store_s):
                told = await self._told(group_id, secret)
        except Refused as refused:
            return refusal(refused)
        except (StoreUnavailableError, TimeoutError) as error:
            log.warning("a pack was not read: %s", type(error).__name__)
            return refusal(Refused(503, "the database cannot be read now; ask again"))
        headers = {COMPLETE: "true" if told.frozen else "false", "Cache-Control": "no-store"}
        return Response(told.body.encode(), headers=headers, media_type="application/json")

    async def _told(self, group_id: str, secret: str | None) -> Told:
        async with self._store.begin() as tx:
            token = await tx.tokens.live(secret) if secret else None
            reader = may(token, Scope.READ)
            if not group_id.isprintable():  # no id of ours, and the database takes no NUL
                raise Refused(404, NOBODYS)
            told = await tx.findings.told_of_group(group_id, reader.client_id)
        if told is None:
            raise Refused(404, NOBODYS)
        return told


def may(token: ApiToken | None, scope: Scope) -> ApiToken:
    """Let a token through that opens a scope.

    Raises:
        Refused: there is none, or it opens something else.
    """
    if token is None:
        raise Refused(401, "unknown or missing token")
    if scope not in token.scopes:
        raise Refused(403, f"the token lacks the scope {scope.value}")
    return token


def refusal(refused: Refused) -> Response:
    """Say a refusal as HTTP does."""
    headers = {"Cache-Control": "no-store"}
    if refused.status == 401:  # noqa: PLR2004 the one status that names a scheme
        headers["WWW-Authenticate"] = "Bearer"
    if refused.status == 503:  # noqa: PLR2004 the one status that passes
        headers["Retry-After"] = "5"
    return JSONResponse({"error": refused.reason}, refused.status, headers=headers)
