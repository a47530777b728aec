"""Kubernetes: events of a namespace, and nothing else of the cluster."""

from datetime import datetime
from urllib.parse import quote

from pydantic import AwareDatetime, BaseModel, Field, ValidationError

from bot.backends.http import BackendSettings, BoundedHttp, HttpReply
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

_OK = 200


class KubernetesSettings(BackendSettings):
    """How the API server is asked."""

    max_events: int = Field(500, gt=0)
    namespace: str | None = None
    """The only one this client may see; None leaves that to the server."""


class _Object(BaseModel):
    kind: str = ""
    name: str = ""


class _Event(BaseModel):
    type: str | None = None
    reason: str | None = None
    message: str | None = None
    count: int | None = None
    involvedObject: _Object = _Object()  # noqa: N815 - the server's spelling
    lastTimestamp: AwareDatetime | None = None  # noqa: N815
    eventTime: AwareDatetime | None = None  # noqa: N815
    firstTimestamp: AwareDatetime | None = None  # noqa: N815

    @property
    def at(self) -> datetime | None:
        """When it was seen last."""
        return self.lastTimestamp or self.eventTime or self.firstTimestamp

    @property
    def line(self) -> str:
        """It on one line, without its time."""
        times = f" ({self.count} times)" if (self.count or 1) > 1 else ""
        what = f"{self.involvedObject.kind}/{self.involvedObject.name}"
        return f"{self.type or 'Normal'} {self.reason or ''} {what}: {self.message or ''}{times}"


class _Events(BaseModel):
    items: list[_Event]


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
        params = {"limit": str(self._settings.max_events)}
        if "name" in question.queries:
            params["fieldSelector"] = f"involvedObject.name={question.queries['name']}"
        path = f"/api/v1/namespaces/{quote(namespace, safe='')}/events"
        return _answer(await self._http.get(path, params), question)


def _answer(reply: HttpReply | Gap, question: Question) -> Outcome:
    if isinstance(reply, Gap):
        return reply
    if reply.status != _OK:
        return Gap(cause=GapCause.REFUSED, detail=str(reply.status))
    try:
        events = _Events.model_validate_json(reply.body).items
    except ValidationError:
        return Gap(cause=GapCause.GARBLED, detail="not the JSON of a Kubernetes API")
    assert question.window is not None, "events are asked of a stretch of time"
    start, end = question.window.start_at, question.window.end_at
    seen = sorted((e.at, e.line) for e in events if e.at is not None and start <= e.at <= end)
    lines = tuple(f"{at:%Y-%m-%d %H:%M:%S}Z {line}" for at, line in seen)
    return Answered(evaluated_at=end, lines=lines) if lines else Empty(evaluated_at=end)
