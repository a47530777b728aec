"""Anthropic's Messages API over loopback."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from itertools import count

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Receive, Scope, Send
from typing_extensions import override

from bot.drill.doubles.anthropic_replies import (
    Answerer,
    ApiError,
    Broken,
    Json,
    Late,
    Message,
    Reply,
)
from bot.drill.doubles.anthropic_request import complaint
from bot.drill.doubles.anthropic_stream import events, written
from bot.drill.doubles.conversations import Conversations
from bot.drill.doubles.faults import Answer, Hang, Now, ReplyLost, suffer
from bot.drill.doubles.prompt_cache import Charge, PromptCache, count_prompt, count_tokens
from bot.drill.doubles.serve import ABORT, cut

MODELS = ("claude-haiku-4-5", "claude-haiku-5-5", "claude-sonnet-5-5", "claude-opus-5-5")


@dataclass(frozen=True)
class Asked:
    """One request as it arrived, and what it was charged."""

    body: Json
    headers: Json
    at: datetime
    charge: Charge | None = None
    """None for a request that was refused."""
    refusal: str = ""
    """Why it was not taken; empty when it was."""
    path: str = "/v1/messages"
    reply: Reply | None = field(default=None, repr=False)


class Half(StreamingResponse):
    """A response that ends with its connection."""

    @override
    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        async for chunk in self.body_iterator:
            body = chunk if isinstance(chunk, bytes) else str(chunk).encode()
            await send({"type": "http.response.body", "body": body, "more_body": True})
        await cut(scope[ABORT], receive)


class MessagesDouble:
    """The Messages API: strict about requests, honest about tokens, told what to answer.

    Args:
        now: Its wall clock.
        answer: Decides what it answers to a request it accepts.
        key: The one API key it knows.
        models: The models it has.
        context_tokens: How long a prompt may be.
    """

    def __init__(
        self,
        now: Now,
        answer: Answerer,
        *,
        key: str = "sk-rehearsal",
        models: Iterable[str] = MODELS,
        context_tokens: int = 200_000,
    ) -> None:
        self.now, self.answer, self.key = now, answer, key
        self.models, self.context_tokens = tuple(models), context_tokens
        self.cache = PromptCache(now)
        self.conversations = Conversations()
        self.asked: list[Asked] = []
        self._ids = count(1)
        self.app = Starlette(
            routes=[
                Route("/", self._root, methods=["HEAD", "GET"]),
                Route("/v1/messages", self._messages, methods=["POST"]),
                Route("/v1/messages/count_tokens", self._count, methods=["POST"]),
                Route("/v1/models", self._models),
                Route("/v1/models/{model}", self._model),
            ]
        )

    @property
    def accepted(self) -> list[Asked]:
        """The requests that reached the model, oldest first."""
        return [asked for asked in self.asked if not asked.refusal]

    async def _root(self, _request: Request) -> Response:
        return Response()

    async def _messages(self, request: Request) -> Response:
        body = json.loads(await request.body())
        headers = dict(request.headers)
        if error := self._refusal(request, body):
            self.asked.append(Asked(body, headers, self.now(), refusal=error.message))
            return self._error(error)
        self.conversations.heard(body)
        reply = self.answer(body)
        charge = self.cache.charge(body) if _is_charged(reply) else None
        self.asked.append(Asked(body, headers, self.now(), charge, reply=reply))
        return await self._respond(reply, body, charge or Charge())

    def _refusal(self, request: Request, body: Json) -> ApiError | None:
        """Find the error that stands before any model runs."""
        if error := self._identity(request):
            return error
        if wrong := complaint(body) or self.conversations.complaint(body):
            return ApiError(400, "invalid_request_error", wrong)
        if body["model"] not in self.models:
            return ApiError(404, "not_found_error", f"model: {body['model']}")
        tokens = count_prompt(body)
        if tokens > self.context_tokens:
            long = f"prompt is too long: {tokens} tokens > {self.context_tokens} maximum"
            return ApiError(400, "invalid_request_error", long)
        return None

    def _identity(self, request: Request) -> ApiError | None:
        bearer = request.headers.get("authorization", "").removeprefix("Bearer ")
        key = request.headers.get("x-api-key") or bearer
        if not key:
            return ApiError(401, "authentication_error", "x-api-key header is required")
        if key != self.key:
            return ApiError(401, "authentication_error", "invalid x-api-key")
        if "anthropic-version" not in request.headers:
            return ApiError(400, "invalid_request_error", "anthropic-version: header is required")
        return None

    async def _respond(self, reply: Reply, body: Json, charge: Charge) -> Response:
        match reply:
            case Late(delay_s=delay_s, reply=late):
                await asyncio.sleep(delay_s)
                return await self._respond(late, body, charge)
            case ApiError():
                return self._error(reply)
            case Message():
                return self._whole(self._wire(reply, body, charge), stream=body.get("stream"))
            case Broken():
                return self._half(reply, self._wire(reply.message, body, charge), body)
            case ReplyLost() | Hang() | Answer():
                return await suffer(reply, lambda: self._respond(Message(()), body, charge))

    def _wire(self, reply: Message, body: Json, charge: Charge) -> Json:
        """Say a message as the API does."""
        tokens = reply.output_tokens
        if tokens is None:
            tokens = sum(map(count_tokens, reply.content))
        usage = {"output_tokens": tokens, "service_tier": "standard", "server_tool_use": None}
        return {
            "id": f"msg_{next(self._ids):024d}",
            "type": "message",
            "role": "assistant",
            "model": body["model"],
            "content": list(reply.content),
            "stop_reason": reply.stop_reason,
            "stop_sequence": None,
            "usage": charge.wire() | usage,
        }

    def _whole(self, message: Json, *, stream: bool | None) -> Response:
        headers = {"request-id": f"req_{message['id']}"}
        if not stream:
            return JSONResponse(message, headers=headers)
        told = (written(event) for event in events(message))
        return StreamingResponse(told, headers=headers, media_type="text/event-stream")

    def _half(self, broken: Broken, message: Json, body: Json) -> Response:
        if not body.get("stream"):
            text = json.dumps(message).encode()
            return Half(_each([text[: len(text) // 2]]), media_type="application/json")
        told = [written(event) for event in events(message)][: broken.after_events]
        if broken.error:
            told.append(written(broken.error.wire(f"req_{message['id']}")))
        kind = Half if broken.aborts else StreamingResponse
        return kind(_each(told), media_type="text/event-stream")

    def _error(self, error: ApiError) -> Response:
        request_id = f"req_{next(self._ids):024d}"
        headers = {"request-id": request_id, **error.headers}
        return JSONResponse(error.wire(request_id), error.status, headers)

    async def _count(self, request: Request) -> Response:
        body = json.loads(await request.body())
        error = self._identity(request)
        wrong = None if error else complaint({"max_tokens": 1_000_000, **body})
        if wrong:
            error = ApiError(400, "invalid_request_error", wrong)
        headers = dict(request.headers)
        refusal = error.message if error else ""
        path = "/v1/messages/count_tokens"
        self.asked.append(Asked(body, headers, self.now(), refusal=refusal, path=path))
        return self._error(error) if error else JSONResponse({"input_tokens": count_prompt(body)})

    async def _models(self, request: Request) -> Response:
        if error := self._identity(request):
            return self._error(error)
        found = [_model_wire(model) for model in self.models]
        ends = {"first_id": self.models[0], "last_id": self.models[-1], "has_more": False}
        return JSONResponse({"data": found, **ends})

    async def _model(self, request: Request) -> Response:
        model = str(request.path_params["model"])
        error = self._identity(request)
        if model not in self.models:
            error = error or ApiError(404, "not_found_error", f"model: {model}")
        return self._error(error) if error else JSONResponse(_model_wire(model))


def _is_charged(reply: Reply) -> bool:
    """Whether the model runs for this reply."""
    match reply:
        case Message() | Broken():
            return True
        case Late(reply=late):
            return _is_charged(late)
        case ReplyLost(accepted=accepted):
            return accepted
        case ApiError() | Hang() | Answer():
            return False


def _model_wire(model: str) -> Json:
    made = "2026-01-01T00:00:00Z"
    return {"type": "model", "id": model, "display_name": model, "created_at": made}


async def _each(chunks: list[bytes]) -> AsyncIterator[bytes]:
    for chunk in chunks:
        yield chunk
