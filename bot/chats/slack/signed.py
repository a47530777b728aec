"""Slack over HTTP: nothing is read before its signature over the raw bytes holds."""

from fastapi import Request
from fastapi.responses import PlainTextResponse, Response
from slack_bolt.adapter.starlette.async_handler import (
    to_async_bolt_request,
    to_starlette_response,
)
from slack_bolt.async_app import AsyncApp
from slack_sdk.signature import Clock as SlackClock
from slack_sdk.signature import SignatureVerifier
from typing_extensions import override

from bot.http.body import MAX_OTHER_BYTES, read_bytes
from engine.ports import Clock


class _Seconds(SlackClock):
    """Our clock as the verifier wants it."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    @override
    def now(self) -> float:
        return self._clock.now().timestamp()


class SignedRequests:
    """Takes what Slack posts; five minutes old is too old."""

    def __init__(self, app: AsyncApp, secret: str, clock: Clock) -> None:
        """Bring what is signed with `secret` to `app`."""
        self._app = app
        self._verifier = SignatureVerifier(secret, _Seconds(clock))

    async def take(self, request: Request) -> Response:
        """Answer one request."""
        body = await read_bytes(request, MAX_OTHER_BYTES)
        stamp = request.headers.get("x-slack-request-timestamp", "")
        signature = request.headers.get("x-slack-signature", "")
        known = stamp.isascii() and stamp.isdigit()
        if not known or not self._verifier.is_valid(body, stamp, signature):
            return PlainTextResponse("invalid signature", 401)
        return to_starlette_response(
            await self._app.async_dispatch(to_async_bolt_request(request, body))
        )
