"""Serving a double: an ephemeral loopback port, no signal handlers, a stop that does not wait."""

import asyncio
import socket
from collections.abc import AsyncIterator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send
from typing_extensions import override

ABORT = "caveat.abort"
"""Key of the request's scope that holds the function which drops its connection."""


class Loopback(uvicorn.Server):
    """A server that runs in the loop it is given and leaves when it is told."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = asyncio.Event()
        self.leaving = asyncio.Event()

    @override
    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        self.ready.set()

    @override
    async def main_loop(self) -> None:
        await self.leaving.wait()

    @override
    @contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        yield


class Cuttable:
    """An app whose requests can lose their connection, and are dropped when the server leaves."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self.running: set[asyncio.Task[Any]] = set()
        self.leaving = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Run one request; the outermost `send` belongs to the connection it may cut."""
        task = asyncio.current_task()
        if task is None:
            raise RuntimeError("a request runs in a task")
        abort = abort_of(send)
        self.running.add(task)
        try:
            await self.app({**scope, ABORT: abort}, receive, send)
        except asyncio.CancelledError:
            if not self.leaving:
                raise
            await cut(abort, receive)
        finally:
            self.running.discard(task)

    def drop(self) -> None:
        """End every request that has no answer yet."""
        self.leaving = True
        for task in self.running:
            task.cancel()


def abort_of(send: Send) -> Callable[[], None]:
    """Find the connection behind uvicorn's `send`; ASGI itself has no word for dropping it."""
    abort: Callable[[], None] = send.__self__.transport.abort  # type: ignore[attr-defined]
    return abort


async def cut(abort: Callable[[], None], receive: Receive) -> None:
    """Drop a connection and wait until it is gone."""
    abort()
    while (await receive())["type"] != "http.disconnect":
        pass


@asynccontextmanager
async def serve(app: ASGIApp, listener: socket.socket | None = None) -> AsyncIterator[str]:
    """Serve `app` on 127.0.0.1 and give its base URL, without a slash at the end."""
    cuttable = Cuttable(app)
    config = uvicorn.Config(
        cuttable, http="h11", ws="none", lifespan="off", log_config=None, access_log=False
    )
    server = Loopback(config)
    listener = listener or socket.create_server(("127.0.0.1", 0))
    running = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        await server.ready.wait()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        cuttable.drop()
        server.force_exit = True
        server.leaving.set()
        await running
