"""The address Telegram posts its updates to, where it is not polled."""

import hmac
import json
from collections.abc import Awaitable, Callable
from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import Response

from bot.http.body import MAX_OTHER_BYTES, read_json_bytes

PATH = "/telegram"
HEADER = "X-Telegram-Bot-Api-Secret-Token"

Take = Callable[[Any], Awaitable[bool]]
"""Takes an update; False: not now."""


def mount(app: FastAPI, secret: str, take: Take) -> None:
    """Let Telegram in; nobody else knows the secret."""

    @app.post(PATH)
    async def updated(request: Request) -> Response:
        told = request.headers.get(HEADER, "")
        if not hmac.compare_digest(told.encode(), secret.encode()):
            return Response(status_code=401)
        try:
            update = json.loads(await read_json_bytes(request, MAX_OTHER_BYTES))
            taken = await take(update)
        except (ValueError, TypeError, LookupError):
            # Nothing the library could read: told again it would be no better.
            return Response(status_code=200)
        return Response(status_code=200 if taken else 503)
