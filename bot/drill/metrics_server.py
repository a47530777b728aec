"""The rehearsal metrics server as a process of its own: its sums would hold up the product's."""

import asyncio
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime

from bot.backends.clock import SystemClock
from bot.drill.doubles.prometheus import MetricsDouble
from bot.drill.doubles.serve import serve
from bot.drill.scenario import Scenario, Stage, active_alerts, rule_groups
from bot.drill.table import SCENARIOS


@asynccontextmanager
async def metrics_server(scenario: Scenario, stage: Stage) -> AsyncIterator[str]:
    """Start it for one rehearsal and give its base URL; it ends with this, or with its parent."""
    # It listens from the first moment and answers once it is there: nobody waits for its start.
    with socket.create_server(("127.0.0.1", 0)) as listener:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", __name__,
            scenario.name, stage.cluster, stage.now.isoformat(), str(listener.fileno()),
            stdin=asyncio.subprocess.PIPE, pass_fds=[listener.fileno()],
        )  # fmt: skip
        port = listener.getsockname()[1]
    assert process.stdin is not None
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        process.stdin.close()
        await process.wait()


def planted(scenario: Scenario, stage: Stage) -> MetricsDouble:
    """Make the server with everything the scenario needs."""
    double = MetricsDouble(SystemClock().now)
    scenario.plant(double, stage)
    double.groups = rule_groups(stage, scenario)
    double.alerts = active_alerts(stage, scenario)
    return double


async def _run(scenario: Scenario, stage: Stage, listener: socket.socket) -> None:
    async with serve(planted(scenario, stage).app, listener):
        # Its parent says nothing; the end of the line is the parent's end, however that came.
        await asyncio.to_thread(sys.stdin.buffer.read)


if __name__ == "__main__":
    name, cluster, now, listening = sys.argv[1:]
    asyncio.run(
        _run(
            SCENARIOS[name],
            Stage(cluster, datetime.fromisoformat(now)),
            socket.socket(fileno=int(listening)),
        )
    )
