"""A provider that refuses us: when nobody asks any more, who is told, and how it ends."""

import itertools
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import text

from bot.backends.watched import WatchedModel, outage_kind
from bot.telemetry import Telemetry
from cards.notice import of_outage
from engine.errors import (
    EngineError,
    OperationalError,
    OperatorActionRequiredError,
    StoreUnavailableError,
    TerminalError,
    TransientError,
    UnusableReplyError,
)
from engine.model.llm import ModelRequest
from engine.model.org import Platform, Room
from engine.model.outage import Outage, OutageKind
from engine.model.policy import TriageRule
from storage.store import SqlStore
from tests.fakes import ScriptedLLM

BROKE = OperatorActionRequiredError("credit balance is too low", kind="billing")
DENIED = TerminalError("invalid x-api-key", kind="auth", tells=True)
PAGE = UnusableReplyError("a str came back", tells=True)
NOW = datetime(2026, 11, 30, 3, 2, tzinfo=UTC)
REQUEST = ModelRequest(
    model="m", system=(), turns=(), schema_name="s", reply_schema={}, max_tokens=1
)


def watched(store: SqlStore, *replies: Any) -> WatchedModel:
    numbers = itertools.count(1)
    return WatchedModel(
        model=ScriptedLLM(list(replies)),
        provider="p",
        store=store,
        rule=TriageRule(),
        new_id=lambda: f"{next(numbers):032x}",
        telemetry=Telemetry(),
    )


async def ask(model: WatchedModel, times: int = 1) -> None:
    for _ in range(times):
        try:
            await model.complete(REQUEST, 5)
        except EngineError:
            continue


async def outage(store: SqlStore) -> Outage | None:
    async with store.begin() as tx:
        return await tx.outages.open("p")


async def notices(store: SqlStore) -> list[tuple[str, str]]:
    """Each notice that is wished for: its room and its heading, as it would be drawn now."""
    async with store.begin() as tx:
        found = text("select room_id, subject_id from cards where subject_kind = 'notice'")
        rows = (await tx.session.execute(found)).all()
        about = [(row[0], await tx.outages.get(row[1].partition(":")[2])) for row in rows]
    return [(room, of_outage(one, NOW).heading) for room, one in about if one is not None]


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (BROKE, OutageKind.NEEDS_PERSON),
        (DENIED, OutageKind.KEY_REFUSED),
        (PAGE, OutageKind.NO_MODEL_THERE),
        (OperationalError("no db", tells=True), OutageKind.NO_MODEL_THERE),
        (TransientError("busy"), None),
        (TerminalError("bad request"), None),
    ],
)
def test_what_a_person_has_to_put_right(error: EngineError, kind: OutageKind | None) -> None:
    assert outage_kind(error) is kind


@pytest.mark.parametrize(
    ("replies", "shut"),
    [
        ([BROKE], True),
        ([DENIED] * 2, False),
        ([DENIED] * 3, True),
        ([DENIED, DENIED, "fine", DENIED], False),
        ([PAGE] * 9, False),
        ([TransientError("busy")] * 9, None),
        ([DENIED, BROKE], True),
    ],
)
async def test_one_bill_or_three_refused_keys_open_the_breaker(
    store: SqlStore, replies: Sequence[Any], shut: bool | None
) -> None:
    await ask(watched(store, *replies), len(replies))
    found = await outage(store)
    assert (found and found.shut) is shut


@pytest.mark.parametrize(
    ("shut", "retry_s", "trial_s", "pressed", "through"),
    [
        (False, 60, None, False, True),
        (True, 60, None, False, False),
        (True, 60, None, True, True),
        (True, -1, None, False, True),
        (True, -1, 30, False, False),
        (True, -1, 30, True, False),
        (True, -1, -1, False, True),
    ],
)
def test_an_open_breaker_lets_one_trial_through_after_its_wait_or_a_press(
    *, shut: bool, retry_s: float, trial_s: float | None, pressed: bool, through: bool
) -> None:
    found = Outage(
        id="o",
        provider="p",
        kind=OutageKind.KEY_REFUSED,
        detail="",
        refusals=3,
        shut=shut,
        opened_at=NOW,
        retry_at=NOW + timedelta(seconds=retry_s),
        trial_until=None if trial_s is None else NOW + timedelta(seconds=trial_s),
    )
    assert found.lets_through(NOW, pressed=pressed) is through


async def test_only_one_of_two_workers_gets_the_trial(store: SqlStore) -> None:
    await ask(watched(store, BROKE))
    async with store.begin() as tx:
        assert [await tx.outages.try_once("p", 60) for _ in range(2)] == [True, False]


async def test_an_outage_is_one_notice_in_each_chat_and_the_same_one_when_it_is_over(
    store: SqlStore,
) -> None:
    shared = {"platform": Platform.CONSOLE, "chat": "ops"}
    async with store.begin() as tx:
        for client in ("acme", "globex"):
            await tx.org.declare_client(client, {})
            await tx.org.declare_rooms(client, [Room(id=f"{client}:ops", **shared)])
    model = watched(store, BROKE, BROKE, BROKE, "fine")
    await ask(model, 3)
    assert await notices(store) == [("acme:ops", "Caveat: model account needs a person")]
    await ask(model)
    assert await notices(store) == [("acme:ops", "Caveat: model is back")]
    assert await outage(store) is None


async def test_refused_again_within_the_hour_it_is_the_same_outage(store: SqlStore) -> None:
    model = watched(store, DENIED, "fine", DENIED)
    await ask(model)
    first = await outage(store)
    await ask(model, 2)
    again = await outage(store)
    assert first is not None
    assert again is not None
    assert (again.id, again.refusals) == (first.id, 1)


class Gone:
    @asynccontextmanager
    async def begin(self) -> AsyncIterator[None]:
        raise StoreUnavailableError
        yield


async def test_a_reply_is_not_lost_because_it_could_not_be_remembered() -> None:
    model = watched(Gone(), "paid for")  # type: ignore[arg-type]
    assert (await model.complete(REQUEST, 5)).text == "paid for"
