"""Investigations as they happen and as they were: the same steps, at once or one by one."""

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence

from fastapi.responses import JSONResponse, Response, StreamingResponse

from bot.http.api import Refused, may, refusal
from engine.errors import StoreUnavailableError
from engine.model.base import canonical_json
from engine.model.event import Step
from engine.model.run import RunState
from engine.model.token import Scope
from storage.store import SqlStore

log = logging.getLogger(__name__)

NOBODYS = "no such session"
"""Said alike of what there is not and of what is another client's."""
STORE_S = 5.0
EVERY_S = 0.5
"""How often a stream looks for new steps."""
LONGEST_S = 900.0
"""A stream ends then; its reader comes again with the last id it saw."""
MOST_STREAMS = 32
LAST_LOOKS = 2
"""Looks once it is over: its last steps are kept just after its end."""
OVER = frozenset({RunState.DONE, RunState.SKIPPED, RunState.FAILED})


class Sessions:
    """Answers readers of sessions; a token is looked at afresh for every request."""

    def __init__(
        self, store: SqlStore, *, every_s: float = EVERY_S, longest_s: float = LONGEST_S
    ) -> None:
        """Read from `store`."""
        self._store = store
        self._every_s = every_s
        self._longest_s = longest_s
        self._open = 0

    async def whole(self, incident_id: str, secret: str | None) -> Response:
        """Give every step of the newest session of an incident."""
        try:
            async with asyncio.timeout(STORE_S):
                triage_id = await self._triage(incident_id, secret)
                steps, over = await self._steps(triage_id, 0)
        except Refused as refused:
            return refusal(refused)
        except (StoreUnavailableError, TimeoutError) as error:
            return _unread(error)
        told = {"triage_id": triage_id, "over": over, "steps": [_wire(step) for step in steps]}
        return JSONResponse(told, headers={"Cache-Control": "no-store"})

    async def stream(self, incident_id: str, secret: str | None, last_id: str) -> Response:
        """Send the steps after `last_id` as they happen, until the session is over."""
        if self._open >= MOST_STREAMS:
            return refusal(Refused(503, "too many streams are open; ask again"))
        try:
            async with asyncio.timeout(STORE_S):
                triage_id = await self._triage(incident_id, secret)
        except Refused as refused:
            return refusal(refused)
        except (StoreUnavailableError, TimeoutError) as error:
            return _unread(error)
        after = int(last_id) if last_id.isascii() and last_id.isdigit() else 0
        return StreamingResponse(
            self._events(triage_id, min(after, 2**62)),
            media_type="text/event-stream",
            headers={"Cache-Control": "no-store"},
        )

    async def _events(self, triage_id: str, after: int) -> AsyncIterator[str]:
        self._open += 1
        try:
            async with asyncio.timeout(self._longest_s):
                looks = 0
                while looks < LAST_LOOKS:
                    steps, over = await self._steps(triage_id, after)
                    looks += over
                    for step in steps:
                        after = step.id
                        yield event(step)
                    yield ": still going\n\n"
                    await asyncio.sleep(self._every_s)
                yield "event: over\ndata: {}\n\n"
        except (StoreUnavailableError, TimeoutError) as error:
            log.warning("a stream ended early: %s", type(error).__name__)
        finally:
            self._open -= 1

    async def _triage(self, incident_id: str, secret: str | None) -> str:
        async with self._store.begin() as tx:
            token = await tx.tokens.live(secret) if secret else None
            reader = may(token, Scope.READ)
            if not incident_id.isprintable():  # no id of ours, and the database takes no NUL
                raise Refused(404, NOBODYS)
            found = await tx.steps.newest_of(incident_id, reader.client_id)
        if found is None:
            raise Refused(404, NOBODYS)
        return found

    async def _steps(self, triage_id: str, after: int) -> tuple[Sequence[Step], bool]:
        """Read the new steps, and whether there will be no more; the run is looked at first."""
        async with self._store.begin() as tx:
            run = await tx.runs.get(triage_id)
            steps = await tx.steps.of_triage(triage_id, after)
        return steps, run is None or run.state in OVER


def _wire(step: Step) -> dict[str, object]:
    return {
        "id": step.id,
        "at": step.at.isoformat(),
        "kind": step.kind.value,
        "facts": dict(step.facts),
    }


def event(step: Step) -> str:
    """A step as one server-sent event."""
    return f"id: {step.id}\nevent: {step.kind}\ndata: {canonical_json(_wire(step))}\n\n"


def _unread(error: Exception) -> Response:
    log.warning("a session was not read: %s", type(error).__name__)
    return refusal(Refused(503, "the database cannot be read now; ask again"))
