"""How Slack's deliveries reach an app: an envelope on a web socket, or a signed request.

Source: docs.slack.dev, Socket Mode; verifying requests from Slack.
"""

import asyncio
import hashlib
import hmac
import json
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from urllib.parse import urlencode

import aiohttp
from aiohttp import web

from bot.drill.doubles.slack_names import APP, Json
from bot.drill.doubles.slack_room import Workspace

ACK_S = 3.0
"""An answer after that is none: it is delivered again."""
MOST_CONNECTIONS = 10


@dataclass
class Delivery:
    """Something sent to the app, and what became of it."""

    kind: str
    """`interactive`, `slash_commands` or `events_api`."""
    payload: Json
    envelope_id: str
    sent_s: float
    attempts: int = 1
    answered_s: float | None = None
    answer: Json = field(default_factory=dict)
    """What came with the acknowledgement."""
    status: int | None = None
    """Over HTTP."""
    taken: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def took_s(self) -> float:
        """Seconds until it was acknowledged."""
        assert self.answered_s is not None, "never acknowledged"
        return self.answered_s - self.sent_s

    async def acknowledged(self) -> Json:
        """Wait for the acknowledgement as long as Slack does."""
        async with asyncio.timeout(ACK_S):
            await self.taken.wait()
        return self.answer


class Sockets:
    """The app's web sockets; each delivery goes to one of them, in turn."""

    def __init__(self, space: Workspace) -> None:
        self.space = space
        self.open: list[tuple[web.WebSocketResponse, web.Request]] = []
        self.deliveries: dict[str, Delivery] = {}
        self.acks_to_lose = 0
        self.connected = 0
        """How often the app ever connected."""
        self._turn = 0

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[None]:
        """Take connections on a loopback port."""
        app = web.Application()
        app.router.add_get("/link/", self._link)
        runner = web.AppRunner(app, handle_signals=False, shutdown_timeout=0)
        await runner.setup()
        listener = socket.create_server(("127.0.0.1", 0))
        await web.SockSite(runner, listener).start()
        self.space.socket_url = f"ws://127.0.0.1:{listener.getsockname()[1]}/link/"
        try:
            yield
        finally:
            self.space.socket_url = None
            self.cut()
            await runner.cleanup()

    async def _link(self, request: web.Request) -> web.StreamResponse:
        ticket = request.query.get("ticket", "")
        if ticket not in self.space.tickets:
            return web.Response(status=401)
        self.space.tickets.discard(ticket)
        made = web.WebSocketResponse()
        await made.prepare(request)
        if len(self.open) >= MOST_CONNECTIONS:
            await made.send_json({"type": "disconnect", "reason": "too_many_websockets"})
            return made
        self.open.append((made, request))
        self.connected += 1
        told = {"connection_info": {"app_id": APP}, "num_connections": len(self.open)}
        try:
            await made.send_json({"type": "hello", **told})
            async for message in made:
                if message.type is aiohttp.WSMsgType.TEXT:
                    self._acknowledge(json.loads(message.data))
        finally:
            self.open = [one for one in self.open if one[0] is not made]
        return made

    def _acknowledge(self, said: Json) -> None:
        delivery = self.deliveries.get(str(said.get("envelope_id")))
        if delivery is None or delivery.answered_s is not None:
            return
        if self.acks_to_lose:
            self.acks_to_lose -= 1
            return
        delivery.answered_s = asyncio.get_running_loop().time()
        delivery.answer = said.get("payload") or {}
        delivery.taken.set()

    async def send(self, delivery: Delivery) -> None:
        """Send an envelope to the connection whose turn it is.

        Raises:
            ConnectionError: the app is not connected.
        """
        if not self.open:
            raise ConnectionError("the app has no web socket open")
        self.deliveries[delivery.envelope_id] = delivery
        self._turn += 1
        connection, _ = self.open[self._turn % len(self.open)]
        again = delivery.attempts - 1
        retry = {"retry_attempt": again, "retry_reason": "timeout"} if again else {}
        envelope = {"envelope_id": delivery.envelope_id, "type": delivery.kind}
        await connection.send_json(
            {
                **envelope,
                "accepts_response_payload": delivery.kind != "events_api",
                "payload": delivery.payload,
                **retry,
            }
        )

    async def refresh(self) -> None:
        """Tell every connection to make way for a new one, as Slack does every few hours."""
        for connection, _ in list(self.open):
            await connection.send_json({"type": "disconnect", "reason": "refresh_requested"})

    def cut(self, index: int | None = None) -> None:
        """Drop one connection, or all of them, without a word."""
        for _, request in self.open[:] if index is None else [self.open[index]]:
            if request.transport is not None:
                request.transport.abort()


async def request(delivery: Delivery, url: str, secret: str, at_s: int) -> None:
    """Post a delivery as Slack does, signed over its raw bytes."""
    body, kind = _body(delivery)
    stamp = str(at_s)
    again = delivery.attempts - 1
    retry = {"X-Slack-Retry-Num": str(again), "X-Slack-Retry-Reason": "http_timeout"}
    headers = {
        "Content-Type": kind,
        "X-Slack-Request-Timestamp": stamp,
        "X-Slack-Signature": signature(secret, stamp, body),
        **(retry if again else {}),
    }
    async with (
        aiohttp.ClientSession() as session,
        session.post(url, data=body, headers=headers) as answer,
    ):
        said = await answer.text()
        delivery.status = answer.status
    delivery.answered_s = asyncio.get_running_loop().time()
    delivery.answer = json.loads(said) if said.startswith("{") else {}
    delivery.taken.set()


def signature(secret: str, stamp: str, body: bytes) -> str:
    """Sign a request."""
    signed = hmac.new(secret.encode(), b"v0:" + stamp.encode() + b":" + body, hashlib.sha256)
    return f"v0={signed.hexdigest()}"


def _body(delivery: Delivery) -> tuple[bytes, str]:
    form = "application/x-www-form-urlencoded"
    match delivery.kind:
        case "events_api":
            return json.dumps(delivery.payload).encode(), "application/json"
        case "interactive":
            return urlencode({"payload": json.dumps(delivery.payload)}).encode(), form
        case _:
            return urlencode(delivery.payload).encode(), form
