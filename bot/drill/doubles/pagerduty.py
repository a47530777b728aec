"""PagerDuty's Events API, version 2, as far as anybody can tell from outside."""

from dataclasses import dataclass, field
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from bot.drill.doubles.faults import FaultLine, answer, suffer

Json = dict[str, Any]
ACTIONS = ("trigger", "acknowledge", "resolve")
SEVERITIES = ("critical", "error", "warning", "info")
MOST_KEY = 255
MOST_SUMMARY = 1024
ENQUEUE = "enqueue"


@dataclass
class Alarm:
    """An alert of the service, by its deduplication key."""

    dedup_key: str
    state: str
    summary: str
    triggers: int = 1


@dataclass
class PagerDutyDouble:
    """One service with one integration; it keeps what it accepted."""

    routing_key: str = "R0000000000000000000000000000001"
    events: list[Json] = field(default_factory=list)
    """Accepted, in their order."""
    alarms: dict[str, Alarm] = field(default_factory=dict)
    faults: FaultLine = field(default_factory=FaultLine)
    tried: int = 0

    @property
    def app(self) -> Starlette:
        """What is served."""
        return Starlette(
            routes=[
                Route("/", self._front, methods=["GET"]),
                Route("/v2/enqueue", self._enqueue, methods=["POST"]),
            ]
        )

    def limit_rate(self, times: int = 1, *, after_s: int | None = None) -> None:
        """Refuse the next events: too many came."""
        headers = {} if after_s is None else {"Retry-After": str(after_s)}
        body = {"status": "throttle exceeded", "message": "Requests for this service are arriving"}
        self.faults.add(ENQUEUE, answer(429, body, headers), times)

    def said(self, action: str) -> list[Json]:
        """Events of one kind."""
        return [event for event in self.events if event["event_action"] == action]

    async def _front(self, _: Request) -> Response:
        return Response("", 200)

    async def _enqueue(self, request: Request) -> Response:
        self.tried += 1
        event = await request.json()

        async def accept() -> Response:
            return self._accepted(event)

        return await suffer(self.faults.take(ENQUEUE), accept)

    def _accepted(self, event: Json) -> Response:
        errors = list(_errors(event, self.routing_key))
        if errors:
            told = {
                "status": "invalid event",
                "message": "Event object is invalid",
                "errors": errors,
            }
            return JSONResponse(told, 400)
        self.events.append(event)
        self._ring(event)
        told = {
            "status": "success",
            "message": "Event processed",
            "dedup_key": event["dedup_key"],
        }
        return JSONResponse(told, 202)

    def _ring(self, event: Json) -> None:
        key, action = event["dedup_key"], event["event_action"]
        alarm = self.alarms.get(key)
        if action == "trigger":
            summary = event["payload"]["summary"]
            if alarm is None or alarm.state == "resolved":
                self.alarms[key] = Alarm(key, "triggered", summary)
            else:
                alarm.triggers += 1
        elif alarm is not None and alarm.state != "resolved":
            alarm.state = f"{action}d"


def _errors(event: Json, routing_key: str) -> list[str]:
    found = []
    if event.get("routing_key") != routing_key:
        found.append("Invalid routing key")
    if event.get("event_action") not in ACTIONS:
        found.append("'event_action' is invalid")
    key = event.get("dedup_key")
    if key is not None and len(key) > MOST_KEY:
        found.append("'dedup_key' is too long")
    if event.get("event_action") != "trigger":
        return found if key else [*found, "'dedup_key' is missing or blank"]
    return [*found, *_of_payload(event.get("payload") or {})]


def _of_payload(told: Json) -> list[str]:
    missing = [name for name in ("summary", "source", "severity") if not told.get(name)]
    found = [f"'payload.{name}' is missing or blank" for name in missing]
    if len(told.get("summary") or "") > MOST_SUMMARY:
        found.append("'payload.summary' is too long")
    if told.get("severity") not in SEVERITIES:
        found.append("'payload.severity' is invalid")
    return found
