"""Our web server: alerts and changes in; packs, health and metrics out."""

from collections.abc import Awaitable, Callable, Mapping

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, PlainTextResponse, Response
from prometheus_client import CONTENT_TYPE_LATEST

from bot.http.api import Api
from bot.http.body import RefusedBodyError
from bot.http.sessions import Sessions
from bot.http.webhooks import Webhooks
from bot.telemetry import Telemetry

Ready = Callable[[], Awaitable[str | None]]
"""Says what is missing before we can take alerts; None when nothing is."""


Take = Callable[[Request], Awaitable[Response]]
"""Answers one request."""


def web(
    webhooks: Webhooks,
    api: Api,
    sessions: Sessions,
    telemetry: Telemetry,
    ready: Ready,
    *,
    chats: Mapping[str, Take] | None = None,
) -> FastAPI:
    """Make the application; `chats` take what is posted to their paths."""
    app = FastAPI(title="Caveat", docs_url=None, redoc_url=None, openapi_url=None)

    @app.exception_handler(RefusedBodyError)
    async def refuse(_: Request, error: RefusedBodyError) -> Response:
        return JSONResponse({"error": error.reason}, error.status)

    @app.post("/webhooks/{kind}")
    async def by_header(kind: str, request: Request) -> Response:
        return await webhooks.take(kind, request, _bearer(request))

    @app.post("/webhooks/{kind}/{token}")
    async def by_path(kind: str, token: str, request: Request) -> Response:
        return await webhooks.take(kind, request, token)

    @app.get("/api/v1/alerts/{group_id}/context")
    async def context(group_id: str, request: Request) -> Response:
        return await api.context(group_id, _bearer(request))

    @app.get("/api/v1/incidents/{incident_id}/session")
    async def session(incident_id: str, request: Request) -> Response:
        return await sessions.whole(incident_id, _bearer(request))

    @app.get("/api/v1/incidents/{incident_id}/session/stream")
    async def stream(incident_id: str, request: Request) -> Response:
        last = request.headers.get("last-event-id", "")
        return await sessions.stream(incident_id, _bearer(request), last)

    @app.get("/healthz")
    async def alive() -> Response:
        return PlainTextResponse("ok")

    @app.get("/readyz")
    async def is_ready() -> Response:
        missing = await ready()
        return PlainTextResponse(missing or "ready", 503 if missing else 200)

    @app.get("/metrics")
    async def metrics() -> Response:
        return Response(telemetry.exposition(), media_type=CONTENT_TYPE_LATEST)

    _listen(app, chats or {})
    return app


def _listen(app: FastAPI, chats: Mapping[str, Take]) -> None:
    for path, take in chats.items():
        app.post(path)(take)


def _bearer(request: Request) -> str | None:
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else None
