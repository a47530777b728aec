"""Kubernetes: events of a namespace, and nothing else of the cluster."""

from urllib.parse import quote

from pydantic import Field

from bot.backends.http import BackendSettings, BoundedHttp, HttpReply, read
from bot.tools.kubernetes_rows import Event, Events, Status, Version
from engine.model.evidence import (
    Answered,
    Empty,
    Gap,
    GapCause,
    Invalid,
    InvalidReason,
    Outcome,
    Question,
)

WHOSE = "a Kubernetes API"
MOST_PAGES = 4
_OK = 200


class KubernetesSettings(BackendSettings):
    """How the API server is asked."""

    max_events: int = Field(500, gt=0)
    """On one page of its answer."""
    namespace: str | None = None
    """The only one this client may see; None leaves that to the server."""


class KubernetesTool:
    """Answers with events; every accident is a value."""

    name = "kubernetes"

    def __init__(self, http: BoundedHttp, settings: KubernetesSettings) -> None:
        self._http = http
        self._settings = settings

    async def ask(self, question: Question) -> Outcome:
        """Give the events of the window, oldest first."""
        namespace = question.queries["namespace"]
        only = self._settings.namespace
        if only is not None and namespace != only:
            detail = "not a namespace of this client"
            return Invalid(expression=namespace, reason=InvalidReason.SCOPE, detail=detail)
        path = f"/api/v1/namespaces/{quote(namespace, safe='')}/events"
        events = await self._events(path, question.queries.get("name"))
        return events if isinstance(events, Gap) else _answer(events, question)

    async def version(self) -> str | Gap:
        """Give the version it runs."""
        body = read(await self._http.get("/version"), Version, WHOSE)
        return body if isinstance(body, Gap) else body.gitVersion

    async def allowed(self) -> Gap | None:
        """Why it does not let its events be read; None when it does."""
        only = self._settings.namespace
        where = f"/namespaces/{quote(only, safe='')}" if only else ""
        reply = await self._http.get(f"/api/v1{where}/events", {"limit": "1"})
        if isinstance(reply, HttpReply) and reply.status != _OK:
            return reply.refusal(Status.of(reply.body))
        body = read(reply, Events, WHOSE)
        return body if isinstance(body, Gap) else None

    async def _events(self, path: str, name: str | None) -> Events | Gap:
        """Read page by page: a page is a part of the alphabet, not the newest."""
        params = {"limit": str(self._settings.max_events)}
        if name is not None:
            params["fieldSelector"] = f"involvedObject.name={name}"
        page = read(await self._http.get(path, params), Events, WHOSE)
        found: list[Event] = []
        for _ in range(MOST_PAGES - 1):
            if isinstance(page, Gap) or not page.metadata.onward:
                break
            found += page.items or []
            params["continue"] = page.metadata.onward
            page = read(await self._http.get(path, params), Events, WHOSE)
        if isinstance(page, Gap):
            return page
        return Events(items=[*found, *(page.items or [])], metadata=page.metadata)


def _answer(events: Events, question: Question) -> Outcome:
    assert question.window is not None, "events are asked of a stretch of time"
    start, end = question.window.start_at, question.window.end_at
    dated = ((e.at, e.line) for e in events.items or [] if e.at is not None)
    lines = tuple(
        f"{at:%Y-%m-%d %H:%M:%S}Z {line}" for at, line in sorted(dated) if start <= at <= end
    )
    unread = events.metadata.remainingItemCount or int(bool(events.metadata.onward))
    if lines:
        return Answered(evaluated_at=end, lines=lines, truncated=unread)
    if unread:
        return Gap(cause=GapCause.TOO_LARGE, detail=f"over {len(events.items or [])} events")
    return Empty(evaluated_at=end)
