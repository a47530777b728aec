"""The part of a Kubernetes API that tells events, over loopback."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from bot.drill.doubles.faults import Fault, suffer

Json = dict[str, Any]
TOKEN = "k8s-token-of-the-double"  # noqa: S105 - of a double
_WHO = "system:serviceaccount:monitoring:caveat"


@dataclass
class KubernetesDouble:
    """A cluster with planted events; its role may hold for some namespaces only."""

    allowed: Sequence[str] = ("*",)
    """Namespaces whose events may be listed; `*` is all of them."""
    events: list[Json] = field(default_factory=list)
    broken: Fault | None = None
    """What every request ends in until it is cleared."""
    asked: list[str] = field(default_factory=list)

    @property
    def app(self) -> Starlette:
        """The web application."""
        return Starlette(
            routes=[
                Route("/version", self._version),
                Route("/api/v1/events", self._serve),
                Route("/api/v1/namespaces/{namespace}/events", self._serve),
            ]
        )

    def plant(
        self, namespace: str, name: str, at: datetime, message: str, *, kind: str = "Warning",
        reason: str = "BackOff", what: str = "Pod", count: int = 1,
    ) -> None:  # fmt: skip
        """Let something have happened to an object."""
        self.events.append(
            {
                "metadata": {"namespace": namespace},
                "involvedObject": {"kind": what, "name": name, "namespace": namespace},
                "type": kind,
                "reason": reason,
                "message": message,
                "count": count,
                "lastTimestamp": at.isoformat().replace("+00:00", "Z"),
            }
        )

    async def _version(self, request: Request) -> Response:
        return await self._answered(request, {"gitVersion": "v1.31.2"})

    async def _serve(self, request: Request) -> Response:
        namespace = request.path_params.get("namespace")
        self.asked.append(request.url.path)
        if "*" not in self.allowed and namespace not in self.allowed:
            return _forbidden(namespace)
        only = request.query_params.get("fieldSelector", "").removeprefix("involvedObject.name=")
        found = [
            event
            for event in self.events
            if namespace in {None, event["metadata"]["namespace"]}
            and only in {"", event["involvedObject"]["name"]}
        ]
        return await self._answered(request, _page(found, request))

    async def _answered(self, request: Request, body: Json) -> Response:
        async def accept() -> Response:
            if request.headers.get("Authorization") != f"Bearer {TOKEN}":
                return JSONResponse({"kind": "Status", "message": "Unauthorized"}, 401)
            return JSONResponse(body)

        return await suffer(self.broken, accept)


def _page(found: Sequence[Json], request: Request) -> Json:
    """Give one page, as many as were wanted."""
    start = int(request.query_params.get("continue", "0"))
    end = start + int(request.query_params.get("limit", len(found) + 1))
    left = len(found) - end
    more = {"continue": str(end), "remainingItemCount": left} if left > 0 else {}
    return {"kind": "EventList", "metadata": more, "items": list(found[start:end])}


def _forbidden(namespace: str | None) -> Response:
    where = f'in the namespace "{namespace}"' if namespace else "at the cluster scope"
    said = f'events is forbidden: User "{_WHO}" cannot list resource "events" in API group ""'
    return JSONResponse({"kind": "Status", "message": f"{said} {where}"}, 403)
