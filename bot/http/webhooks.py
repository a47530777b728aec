"""Takes what senders post: read, parse, commit, and only then say 202."""

import asyncio
import contextlib
import logging

from fastapi import Request
from fastapi.responses import JSONResponse, Response

from bot.door import Door, Receipt, UnknownSenderError
from bot.http.body import MAX_ALERT_BYTES, MAX_OTHER_BYTES, RefusedBodyError, read_json_bytes
from bot.sources.source import UnreadableError
from bot.sources.table import CHANGE_SOURCES, SOURCES
from engine.errors import StoreUnavailableError

log = logging.getLogger(__name__)

STORE_S = 2.0
"""A sender hears 503 rather than wait longer for our database."""
AT_ONCE = 64
"""Posts being handled; past it a sender hears 503 and comes again."""
FILING = 4
"""Posts being filed. A client's are decided one after the other anyway, and those that wait must
not run out of time with half their work done: sent again, they would never be through."""
TURN_S = 5.0
"""A post that waits longer for its turn hears 503."""


class Webhooks:
    """The HTTP face of the door. 4xx is final for a sender, so whatever may pass later is 503."""

    def __init__(self, door: Door, store_s: float = STORE_S) -> None:
        """Let posts in through `door`; `store_s` bounds the wait for the database."""
        self._door = door
        self._store_s = store_s
        self._slots = asyncio.Semaphore(AT_ONCE)
        self._filing = asyncio.Semaphore(FILING)

    async def take(self, kind: str, request: Request, token: str | None) -> Response:
        """Handle one post."""
        if kind not in SOURCES and kind not in CHANGE_SOURCES:
            known = ", ".join(sorted([*SOURCES, *CHANGE_SOURCES]))
            return JSONResponse({"error": f"no source named {kind!r}; there are: {known}"}, 404)
        if self._slots.locked():
            return _later("too many posts at once")
        async with self._slots:
            return await self._handled(kind, request, token)

    async def _handled(self, kind: str, request: Request, token: str | None) -> Response:
        sender, body = None, b""
        try:
            async with asyncio.timeout(self._store_s):
                sender = await self._door.sender(kind, token)
            limit = MAX_ALERT_BYTES if kind in SOURCES else MAX_OTHER_BYTES
            body = await read_json_bytes(request, limit)
            receipt = await self._taken(kind, sender.id, body)
        except UnknownSenderError:
            return JSONResponse({"error": "unknown or missing token"}, 401)
        except RefusedBodyError as error:
            return JSONResponse({"error": error.reason}, error.status)
        except UnreadableError as error:
            return JSONResponse({"error": error.reason, "quarantined": 1}, error.status)
        except (StoreUnavailableError, TimeoutError) as error:
            log.warning("a post of %s was not stored: %s", kind, type(error).__name__)
            return _later("the alert was not stored; send it again")
        except Exception:
            log.exception("a post of %s could not be filed", kind)
            if sender is not None and body:
                await self._set_aside(sender.id, body)
            return _later("the alert was not stored; send it again")
        return JSONResponse(receipt.model_dump(), 202)

    async def _set_aside(self, sender_id: str, body: bytes) -> None:
        """Keep what trips over a fault of ours: its sender gives up, a replay need not."""
        with contextlib.suppress(StoreUnavailableError, TimeoutError):
            async with asyncio.timeout(self._store_s):
                await self._door.set_aside(sender_id, "could not be filed; see the log", body)

    async def _taken(self, kind: str, sender_id: str, body: bytes) -> Receipt:
        async with asyncio.timeout(TURN_S):
            await self._filing.acquire()
        try:
            # A body near the limit takes seconds to file; the database gets more in proportion.
            async with asyncio.timeout(self._store_s + len(body) / 250_000):
                return await self._door.take(kind, sender_id, body)
        finally:
            self._filing.release()


def _later(reason: str) -> Response:
    return JSONResponse({"error": reason}, 503, headers={"Retry-After": "5"})
