"""What becomes of a job whose client left the configuration."""

import pytest

from bot.backends.clock import SystemClock
from bot.jobs import UNCONFIGURED, JobHandlers
from bot.telemetry import Telemetry
from engine.ports import DeadReason, Delivery, Queue
from engine.stages.world import World
from storage.store import SqlStore


def no_world(client_id: str) -> World:
    raise KeyError(client_id)


@pytest.mark.parametrize("queue", [Queue.FACTS, Queue.TRIAGE])
async def test_a_job_of_a_client_that_left_the_configuration_is_given_up_at_once(
    store: SqlStore,
    queue: Queue,
) -> None:
    handlers = JobHandlers(no_world, store, lambda: "0" * 32, SystemClock(), Telemetry())
    job = Delivery(
        job_id="j", queue=queue, key="k", ids={"incident_id": "i"}, client_id="gone", number=1,
        fence=1,
    )  # fmt: skip
    assert await handlers.table[queue](job) == UNCONFIGURED
    assert UNCONFIGURED.reason is DeadReason.TERMINAL
