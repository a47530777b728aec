"""An application in a process of its own: starts or attaches, says so, supervises until SIGTERM."""

import asyncio
import multiprocessing
import os
import signal
import sys
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.context import ForkProcess
from pathlib import Path

from storage.embedded import EmbeddedPostgres

WAIT_S = 20.0
SYSTEM_PYTHON = "/usr/bin/python3"


@dataclass
class App:
    """The process, and what it said last about its server."""

    process: ForkProcess
    hears: Connection
    owner: bool = False
    pid: int = 0
    dsn: str = ""

    def listen(self) -> "App":
        assert self.hears.poll(WAIT_S), "the application said nothing"
        self.owner, self.pid, self.dsn = self.hears.recv()
        return self

    def end(self) -> None:
        self.process.terminate()
        self.process.join(WAIT_S)
        self.hears.close()


def launch(root: Path, uid: int | None = None) -> App:
    """Fork, which spares the imports; the child is a process like any other."""
    context = multiprocessing.get_context("fork")
    hears, tells = context.Pipe(duplex=False)
    process = context.Process(target=run, args=(root, uid, tells))
    process.start()
    tells.close()
    return App(process, hears)


def run(root: Path, uid: int | None, tells: Connection) -> None:
    if uid is not None:
        become(uid)
    asyncio.run(live(EmbeddedPostgres(root, fast=True).start(), tells))


def become(uid: int) -> None:
    """Our own interpreter may lie in root's home, so the launcher gets one that anybody can run."""
    os.setgroups([])
    os.setgid(uid)
    os.setuid(uid)
    sys.executable = SYSTEM_PYTHON


async def live(server: EmbeddedPostgres, tells: Connection) -> None:
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, server.stop)
    tells.send((server.owner, server.pid or 0, server.dsn()))
    attached = not server.owner
    watching = asyncio.create_task(server.supervise())
    while not watching.done():
        if attached and server.pid:
            attached = False
            tells.send((True, server.pid, server.dsn()))
        await asyncio.sleep(0.02)
    await watching
