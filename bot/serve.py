"""Runs everything in one process until it is told to stop, and stops in order."""

import asyncio
import contextlib
import logging
import signal
import socket
from collections.abc import AsyncIterator, Coroutine, Iterator
from contextlib import asynccontextmanager

import uvicorn
from fastapi import FastAPI
from typing_extensions import override

from bot.backends.of_client import refresh_all
from bot.compose import House
from bot.http.address import AddressInUseError
from bot.notices import DatabaseWatch
from bot.schedule import scheduler
from engine.errors import StoreUnavailableError

log = logging.getLogger(__name__)

START_ASK_S = 3.0
"""Longest wait for backends at start; they may come later."""
DRAIN_S = 25.0
"""Longest wait for running jobs at the end; what is left is handed back to the queue."""


class Server(uvicorn.Server):
    """uvicorn that leaves signals to us; its own handling ends the process with the signal."""

    def __init__(self, config: uvicorn.Config) -> None:
        """Prepare; `listening` is set once it takes connections."""
        super().__init__(config)
        self.listening = asyncio.Event()

    @override
    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        self.listening.set()

    @override
    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


class Running:
    """A house at work."""

    def __init__(self, house: House) -> None:
        """Prepare to run; `start` does."""
        self.house = house
        self.stop = asyncio.Event()
        self.failed = False
        """A part failed, and the process ends because of it."""
        self._missing: str | None = "starting"
        self._server: Server | None = None

    @property
    def url(self) -> str:
        """Where the web server answers."""
        assert self._server is not None, "not started"
        host, port = self._server.servers[0].sockets[0].getsockname()[:2]
        return f"http://{host}:{port}"

    def ready(self) -> str | None:
        """What is missing before alerts can be taken; None when nothing is."""
        return "stopping" if self.stop.is_set() else self._missing

    @asynccontextmanager
    async def work(self, *, front: bool = True) -> AsyncIterator[None]:
        """Run every part; leaving it drains what runs and lets the rest go.

        Args:
            front: also run the web server, the pollers, the sweep and what chats deliver; a mere
                worker does not.
        """
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(START_ASK_S):
                await refresh_all(list(self.house.backends.values()))
        drained = [self._begun(one) for one in self._drained(front=front)]
        endless = [self._begun(one) for one in self._endless(front=front)]
        sweeps = scheduler([self.house.sweeper()] if front else [])
        sweeps.start()
        serving = await self._serving() if front else None
        self._missing = None
        try:
            yield
        finally:
            self.stop.set()
            sweeps.shutdown(wait=False)
            await self._ended(drained, endless, serving)

    def _begun(self, part: Coroutine[None, None, None]) -> asyncio.Task[None]:
        """Start a part; if it ever fails, everything stops rather than go on without it."""
        task = asyncio.create_task(part)
        task.add_done_callback(self._notice_failure)
        return task

    def _notice_failure(self, task: asyncio.Task[None]) -> None:
        if task.cancelled() or task.exception() is None:
            return
        log.critical("a part of this process failed; stopping", exc_info=task.exception())
        self.failed = True
        self.stop.set()

    def _drained(self, *, front: bool) -> list[Coroutine[None, None, None]]:
        """Parts that end by themselves once they are told to stop."""
        house = self.house
        taking = [house.slack.run(self.stop)] if front and house.slack is not None else []
        return [house.worker().run(self.stop), house.outbox.run(self.stop), *taking]

    def _endless(self, *, front: bool) -> list[Coroutine[None, None, None]]:
        """Parts that go on until they are cancelled, or have nothing left to do."""
        house = self.house
        late = [] if house.late_model is None else [house.late_model.warm()]
        metrics = [b.metrics for b in house.backends.values() if b.metrics is not None]
        pollers = [poller.run() for poller in house.pollers()] if front else []
        heard = [house.telegram.run()] if front and house.telegram is not None else []
        fresh = [one.keep_fresh(house.clock) for one in metrics]
        return [*late, house.queue.listen(), self._watch(), *fresh, *pollers, *heard]

    async def _serving(self) -> asyncio.Task[None]:
        """Start the web server and wait until it listens."""
        http = self.house.settings.http
        self._server = _server(self.house.web(self.ready), http.host, http.port)
        serving = asyncio.create_task(self._server.serve())
        while not self._server.started:
            if serving.done():
                raise AddressInUseError(f"{http.host}:{http.port}")
            await asyncio.sleep(0.01)
        return serving

    async def _watch(self) -> None:
        """Keep readiness true to the database, and tell the rooms when it is away."""
        house = self.house
        declared = [
            line.room(client)
            for client, own in house.settings.by_client.items()
            for line in own.rooms
        ]
        notices = DatabaseWatch(house.chats, declared, house.clock)
        while True:
            try:
                async with asyncio.timeout(2), house.store.begin() as tx:
                    await tx.now()
                self._missing = None
                await notices.up()
            except (StoreUnavailableError, TimeoutError):
                self._missing = "the database does not answer"
                await notices.down()
            await asyncio.sleep(1)

    async def _ended(
        self,
        drained: list[asyncio.Task[None]],
        endless: list[asyncio.Task[None]],
        serving: asyncio.Task[None] | None,
    ) -> None:
        """Take no more alerts, let the worker and the outbox drain, then end the rest."""
        if self._server is not None:
            self._server.should_exit = True
        await asyncio.wait(drained, timeout=DRAIN_S)
        for task in (*drained, *endless):
            task.cancel()
        await asyncio.gather(*drained, *endless, return_exceptions=True)
        if serving is not None:
            await asyncio.gather(serving, return_exceptions=True)
        for backends in self.house.backends.values():
            await backends.close()


def _server(app: FastAPI, host: str, port: int) -> Server:
    config = uvicorn.Config(
        app,
        host=host,
        port=port,
        log_level="warning",
        access_log=False,
        timeout_graceful_shutdown=10,
        lifespan="off",
        server_header=False,
    )
    return Server(config)


def on_signals(stop: asyncio.Event) -> None:
    """Set `stop` when the process is asked to end."""
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
