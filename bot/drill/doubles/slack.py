"""Slack's Web API over loopback."""

import json
import math
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from bot.drill.doubles import arguments
from bot.drill.doubles.faults import Answer, Fault, FaultLine, Now, answer, prevents, suffer
from bot.drill.doubles.serve import serve
from bot.drill.doubles.slack_blocks import complaints
from bot.drill.doubles.slack_chat import RefusedError
from bot.drill.doubles.slack_deliver import Sockets
from bot.drill.doubles.slack_methods import METHODS, Method
from bot.drill.doubles.slack_names import BOT_USER, Json
from bot.drill.doubles.slack_people import People
from bot.drill.doubles.slack_room import Channel, Message, Workspace

POSTING = {"chat.postMessage", "chat.update", "chat.postEphemeral"}
POST_GAP = timedelta(seconds=1)
"""A channel takes one post a second."""


@dataclass(frozen=True)
class Call:
    """One request as it arrived, and what became of it."""

    method: str
    given: Json
    at: datetime
    error: str | None = None
    """Slack's name of the refusal, or the fault's; None for what it accepted."""


def refused(error: str) -> Answer:
    """Make the fault in which Slack answers `error`."""
    return answer(200, {"ok": False, "error": error})


def rate_limited(retry_after_s: int) -> Answer:
    """Make the fault in which Slack asks to wait."""
    said = {"ok": False, "error": "ratelimited"}
    return answer(429, said, {"Retry-After": str(retry_after_s)})


class SlackDouble:
    """A workspace that speaks the Web API and refuses what Slack refuses.

    Args:
        now: Its wall clock.
        token: The one bot token it knows.
        app_token: The one app-level token it knows, for Socket Mode.
        scopes: What the token may do; None is everything.
        strict_rate: Whether a second post to a channel within a second is refused.
    """

    def __init__(
        self,
        now: Now,
        *,
        token: str = "xoxb-rehearsal",  # noqa: S107 - made up, and valid here only
        app_token: str = "xapp-rehearsal",  # noqa: S107 - made up as well
        scopes: Iterable[str] | None = None,
        strict_rate: bool = False,
    ) -> None:
        self.now, self.token, self.strict_rate = now, token, strict_rate
        self.app_token = app_token
        self.scopes = None if scopes is None else frozenset(scopes)
        self.space = Workspace(now)
        self.space.people[BOT_USER] = "caveat"
        self.sockets = Sockets(self.space)
        self.people = People(self.space, self.sockets)
        self.calls: list[Call] = []
        self.dead_token: str | None = None
        """The error every call gets once the token is dead, such as `token_revoked`."""
        self.faults = FaultLine()
        self._closed_until: dict[str, datetime] = {}
        self._posted_at: dict[str, datetime] = {}
        self.app = Starlette(
            routes=[
                Route("/api/{method}", self._serve, methods=["GET", "POST"]),
                Route("/upload/{file}", self._upload, methods=["POST"]),
                Route("/response/{name}", self._respond, methods=["POST"]),
            ]
        )

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[str]:
        """Serve the Web API and web sockets; gives the base URL."""
        async with self.sockets.serving(), serve(self.app) as url:
            self.people.respond_at = f"{url}/response"
            yield url

    def channel(self, channel_id: str, *, joined: bool = True, private: bool = False) -> Channel:
        """Make a channel, named after its id, with the bot in it if it `joined`."""
        made = Channel(channel_id, channel_id.lower(), {BOT_USER} if joined else set())
        made.is_private = private
        self.space.channels[channel_id] = made
        return made

    def person(self, user_id: str, name: str, **profile: Any) -> None:
        """Make a person who is in every channel there is now; `profile` is what is unusual."""
        self.space.people[user_id] = name
        self.space.profiles[user_id] = profile
        for channel in self.space.channels.values():
            channel.members.add(user_id)

    def fail_next(self, method: str, fault: Fault, times: int = 1) -> None:
        """Let the next `times` calls of `method` end in `fault`."""
        self.faults.add(method, fault, times)

    def close_channel(self, channel_id: str, seconds: float) -> None:
        """Answer 429 for writes to one channel until `seconds` have passed."""
        self._closed_until[channel_id] = self.now() + timedelta(seconds=seconds)

    def says(self, channel_id: str, user: str, text: str) -> Message:
        """Let a person write into a channel."""
        message = Message(self.space.stamp(), text, user=user)
        self.space.channels[channel_id].messages[message.ts] = message
        return message

    def cards(self, channel_id: str) -> list[Message]:
        """Give what the bot has in the channel itself, oldest first."""
        roots = self.space.channels[channel_id].roots()
        return [message for message in roots if message.user == BOT_USER]

    def thread(self, channel_id: str, ts: str) -> list[Message]:
        """Give the thread under `ts`, oldest first, without its root."""
        return self.space.channels[channel_id].replies(ts)

    def audible(self, channel_id: str) -> list[Message]:
        """Give the bot's messages that rang: posts and replies; an edit rings nowhere."""
        messages = self.space.channels[channel_id].messages.values()
        return [message for message in messages if message.user == BOT_USER]

    def whispers(self, user_id: str) -> list[str]:
        """Give what a person alone was told where they can see it, oldest first."""
        told = [one for one in self.space.ephemeral if one["user"] == user_id and one["seen"]]
        return [str(one.get("text") or "") for one in told]

    def accepted(self, method: str) -> list[Call]:
        """Give the calls of `method` that took effect, oldest first."""
        return [call for call in self.calls if call.method == method and not call.error]

    async def _serve(self, request: Request) -> Response:
        name = str(request.path_params["method"])
        given = (await arguments.read(request)).values
        bearer = request.headers.get("authorization", "").removeprefix("Bearer ")
        given["_base_url"] = str(request.base_url).rstrip("/")
        token = bearer or str(given.pop("token", ""))

        async def accept() -> Response:
            return self._answer(name, token, given)

        fault = self.faults.take(name)
        if prevents(fault):
            self._record(name, given, type(fault).__name__)
        return await suffer(fault, accept)

    def _answer(self, name: str, token: str, given: Json) -> Response:
        """Run a method, or say in Slack's words why not."""
        try:
            said = self._method(name, token, given).run(self.space, given)
        except RefusedError as no:
            self._record(name, given, no.error)
            if no.error == "ratelimited":
                return rate_limited(no.more["retry_after_s"]).response()
            return JSONResponse({"ok": False, "error": no.error, **no.more})
        if name == "chat.postMessage":
            self._posted_at[said["channel"]] = self.now()
        self._record(name, given, None)
        scopes = ",".join(sorted(self.scopes or self._all_scopes()))
        return JSONResponse({"ok": True, **said}, headers={"x-oauth-scopes": scopes})

    def _method(self, name: str, token: str, given: Json) -> Method:
        """Find the method, if this token may call it now."""
        if not token:
            raise RefusedError("not_authed")
        method = METHODS.get(name)
        mine, other = self.token, self.app_token
        if method is not None and method.of_app:
            mine, other = other, mine
        if self.dead_token or token != mine:
            wrong = "not_allowed_token_type" if token == other else "invalid_auth"
            raise RefusedError(self.dead_token or wrong)
        if method is None:
            raise RefusedError("unknown_method", req_method=name)
        self._check_scope(method, given)
        self._check_rate(name, given)
        return method

    def _check_scope(self, method: Method, given: Json) -> None:
        channel = self.space.find(str(given.get("channel", "")))
        private = channel is not None and channel.is_private
        needed = method.private_scope if private and method.private_scope else method.scope
        if self.scopes is not None and needed and needed not in self.scopes:
            provided = ",".join(sorted(self.scopes))
            raise RefusedError("missing_scope", needed=needed, provided=provided)

    def _check_rate(self, name: str, given: Json) -> None:
        if name not in POSTING:
            return
        channel, now = str(given.get("channel")), self.now()
        until = self._closed_until.get(channel, now)
        if self.strict_rate and name == "chat.postMessage" and channel in self._posted_at:
            until = max(until, self._posted_at[channel] + POST_GAP)
        if until > now:
            wait_s = math.ceil((until - now).total_seconds())
            raise RefusedError("ratelimited", retry_after_s=wait_s)

    async def _respond(self, request: Request) -> Response:
        """Take an answer to what a person did; it needs no token."""
        said = json.loads(await request.body())
        open_ = self.space.answerable.get(str(request.path_params["name"]))
        if open_ is None or not open_.left:
            return PlainTextResponse("expired_url", 404)
        if found := complaints(said.get("blocks") or []):
            return PlainTextResponse(f"invalid_blocks {found}", 400)
        open_.left -= 1
        told = {"channel": open_.channel, "user": open_.user, "seen": True, "by_url": True}
        self.space.ephemeral.append({**said, **told})
        return PlainTextResponse("ok")

    async def _upload(self, request: Request) -> Response:
        file = self.space.files.get(str(request.path_params["file"]))
        if file is None:
            return PlainTextResponse("not found", 404)
        sent = await arguments.read(request) if self._is_form(request) else None
        content = next(iter(sent.files.values())).content if sent else await request.body()
        if len(content) != file.length:
            return PlainTextResponse("length mismatch", 400)
        file.content = content
        return PlainTextResponse(f"OK - {file.length}")

    @staticmethod
    def _is_form(request: Request) -> bool:
        return request.headers.get("content-type", "").startswith("multipart/form-data")

    @staticmethod
    def _all_scopes() -> set[str]:
        return {method.scope for method in METHODS.values() if method.scope}

    def _record(self, name: str, given: Json, error: str | None) -> None:
        kept = {key: value for key, value in given.items() if key != "_base_url"}
        self.calls.append(Call(name, kept, self.now(), error))
