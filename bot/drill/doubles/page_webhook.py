"""A receiver of signed pages, which believes nobody whose signature is wrong or old."""

import hashlib
import hmac
import json
from dataclasses import dataclass, field
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from bot.drill.doubles.faults import FaultLine, Now, suffer

Json = dict[str, Any]
OLD_S = 300
HOOK = "hook"


@dataclass
class PageWebhookDouble:
    """Keeps every page it believed, each idempotency key once."""

    now: Now
    key: bytes = b"webhook-rehearsal"
    pages: dict[str, Json] = field(default_factory=dict)
    """By idempotency key, in their order."""
    faults: FaultLine = field(default_factory=FaultLine)
    elsewhere: str = ""
    """Set: pages are sent on to this address."""

    @property
    def app(self) -> Starlette:
        """What is served."""
        return Starlette(routes=[Route("/hook", self._hook, methods=["POST"])])

    async def _hook(self, request: Request) -> Response:
        body = await request.body()

        async def accept() -> Response:
            return self._judged(request, body)

        if self.elsewhere:
            return RedirectResponse(self.elsewhere, 307)
        return await suffer(self.faults.take(HOOK), accept)

    def _judged(self, request: Request, body: bytes) -> Response:
        sent_at = request.headers.get("caveat-timestamp", "")
        wanted = hmac.new(self.key, sent_at.encode() + b"." + body, hashlib.sha256).hexdigest()
        told = request.headers.get("caveat-signature", "")
        fresh = sent_at.isdecimal() and abs(self.now().timestamp() - int(sent_at)) <= OLD_S
        if not fresh or not hmac.compare_digest(wanted, told):
            return JSONResponse({"error": "signature"}, 401)
        self.pages[request.headers["idempotency-key"]] = json.loads(body)
        return Response("", 204)
