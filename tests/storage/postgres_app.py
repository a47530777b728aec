"""An application in a process of its own: starts or attaches, says so, supervises until SIGTERM.

With a user id after the state folder it is that user from before the start.
"""

import asyncio
import json
import os
import signal
import sys
from pathlib import Path

from storage.embedded import EmbeddedPostgres

SYSTEM_PYTHON = "/usr/bin/python3"


def become(uid: int) -> None:
    """Our own interpreter may lie in root's home, so the launcher gets one that anybody can run."""
    os.setgroups([])
    os.setgid(uid)
    os.setuid(uid)
    sys.executable = SYSTEM_PYTHON


def say(server: EmbeddedPostgres) -> None:
    said = {"owner": server.owner, "pid": server.pid, "dsn": server.dsn()}
    sys.stdout.write(json.dumps(said) + "\n")
    sys.stdout.flush()


async def live(server: EmbeddedPostgres) -> None:
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, server.stop)
    watching = asyncio.create_task(server.supervise())
    owned = not server.owner
    while not watching.done():
        if server.owner != owned and (server.pid or not server.owner):
            owned = server.owner
            say(server)
        await asyncio.sleep(0.02)
    await watching


if __name__ == "__main__":
    if sys.argv[2:]:
        become(int(sys.argv[2]))
    asyncio.run(live(EmbeddedPostgres(Path(sys.argv[1]), fast=True).start()))
