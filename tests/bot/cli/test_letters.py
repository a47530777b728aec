"""What was given up is listed, and taken up again by command."""

import pytest
from sqlalchemy import text

from bot.cli.errors import CommandError
from bot.cli.letters import line, taken_up
from engine.ports import DeadReason, Queue
from storage.queue import PostgresQueue
from storage.store import SqlStore

INCIDENT = text("""
    insert into incidents (id, client_id, number, severity, alert_class, settle_at, window_until,
                           state)
    values (:id, 'acme', :number, 'critical', 'symptom', now(), now(), :state)
""")


async def given_up(store: SqlStore) -> None:
    async with store.begin() as tx:
        await tx.org.declare_client("acme", {})
        await tx.session.execute(INCIDENT, {"id": "i7", "number": 7, "state": "open"})
        await tx.session.execute(INCIDENT, {"id": "i8", "number": 8, "state": "resolved"})
        await tx.jobs.enqueue(Queue.TRIAGE, {"incident_id": "i7"}, key="i7", client_id="acme")
    queue = PostgresQueue(store)
    (job,) = await queue.claim([Queue.TRIAGE], 1)
    assert await queue.term(job, DeadReason.OPERATOR_ACTION_REQUIRED, "credit\nis too low")


@pytest.mark.proves("S3-117")
async def test_what_was_given_up_is_listed_until_it_is_taken_up(store: SqlStore) -> None:
    await given_up(store)
    async with store.begin() as tx:
        (letter,) = await tx.letters.waiting(9)
        assert line(letter).endswith(
            "acme  triage  incident 7  operator_action_required  credit is too low"
        )
        said = await taken_up(tx, "acme", 7, by="cli:ada")
        assert said == "incident 7 of acme is investigated again (it had been given up)"
        assert list(await tx.letters.waiting(9)) == []
    (job,) = await PostgresQueue(store).claim([Queue.TRIAGE], 1)
    assert (job.ids, job.number) == ({"incident_id": "i7", "trigger": "manual"}, 1)


@pytest.mark.parametrize(("number", "why"), [(9, "has no incident 9"), (8, "is resolved")])
async def test_what_cannot_be_taken_up_says_why(store: SqlStore, number: int, why: str) -> None:
    await given_up(store)
    async with store.begin() as tx:
        with pytest.raises(CommandError, match=why):
            await taken_up(tx, "acme", number, by="cli:ada")
