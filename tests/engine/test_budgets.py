"""What a client may spend a day: asked before each call, in the transaction that records it."""

import asyncio
import contextlib
import itertools
from datetime import timedelta

import pytest
from sqlalchemy import text

from bot.backends.clock import SystemClock
from engine.budget import Held, affords, day_start, estimate
from engine.errors import BudgetSpentError, EngineError, TerminalError, TimedOutError
from engine.investigation.calls import Caller
from engine.model.alert import Severity
from engine.model.llm import Block, ModelRequest, Turn
from engine.model.policy import Budget
from engine.model.run import CallKind, RunState, SkipReason, Usage
from engine.pack.section import Ports
from engine.stages.facts import note_skip
from engine.stages.new_day import take_up
from engine.stages.world import StageRules
from engine.stages.world import World as StageWorld
from storage.calls import SpentToday
from storage.store import SqlStore
from tests.engine.conftest import World, alert
from tests.engine.judged import a_run
from tests.engine.test_investigate import Shaky, investigated
from tests.fakes import Late, ScriptedLLM, said

REQUEST = ModelRequest(
    model="m",
    system=(),
    turns=(Turn(role="user", blocks=(Block(text="why " * 300),)),),
    schema_name="s",
    reply_schema={},
    max_tokens=1000,
)
NEED = estimate(REQUEST).total
NUMBERS = itertools.count(1)


async def unheard(_: object, __: object) -> None:
    return None


def new_id() -> str:
    return f"{next(NUMBERS):032x}"


def caller(store: SqlStore, budget: Budget, *replies: object) -> Caller:
    llm = ScriptedLLM(list(replies))  # type: ignore[arg-type]
    return Caller(
        run=a_run(triage_id=new_id()),
        store=store,
        llm=llm,
        clock=SystemClock(),
        new_id=new_id,
        events=unheard,
        price=lambda _, usage: usage.total / 1000,
        budget=budget,
    )


def of(*, calls: float) -> Budget:
    """A budget of so many calls of the size these tests send."""
    return Budget(usd_per_day=calls * NEED / 1000, tokens_per_day=10**9)


@pytest.mark.parametrize(
    ("usd", "tokens", "begins", "may"),
    [
        (0, 0, True, True),
        (3, 0, True, True),
        (3.5, 0, True, False),
        (3.5, 0, False, True),
        (4.5, 0, False, False),
        (0, 800, True, True),
        (0, 801, True, False),
        (0, 900, False, True),
        (0, 901, False, False),
    ],
)
def test_a_triage_begins_only_if_all_of_it_can_be_paid(
    *, usd: float, tokens: int, begins: bool, may: bool
) -> None:
    budget, spent = Budget(usd_per_day=5, tokens_per_day=1000), SpentToday(usd=usd, tokens=tokens)
    assert affords(spent, Held(usd=1, tokens=100), budget, begins=begins) is may


async def test_a_call_the_budget_does_not_cover_is_never_sent(store: SqlStore) -> None:
    poor = caller(store, of(calls=1.9), "never")
    with pytest.raises(BudgetSpentError):
        await poor.send(CallKind.CONCLUDE, REQUEST, 5)
    assert isinstance(poor.llm, ScriptedLLM)
    assert poor.llm.asked == []


async def test_of_two_workers_at_once_one_gets_what_is_left(store: SqlStore) -> None:
    asked = [caller(store, of(calls=2.5), Late(0.2, "{}")) for _ in range(2)]
    ends = await asyncio.gather(
        *(one.send(CallKind.CONCLUDE, REQUEST, 5) for one in asked), return_exceptions=True
    )
    assert sorted(type(end).__name__ for end in ends) == ["BudgetSpentError", "ModelReply"]


@pytest.mark.parametrize(
    ("reply", "tokens"),
    [
        (said("{}", input_tokens=7, output_tokens=3), 10),
        (TerminalError("refused"), 0),
        (TimedOutError("5 s"), NEED),
    ],
)
async def test_what_a_call_cost_counts_and_what_nobody_knows_counts_as_estimated(
    store: SqlStore, reply: object, tokens: int
) -> None:
    one = caller(store, of(calls=9), reply)
    with contextlib.suppress(EngineError):
        await one.send(CallKind.CONCLUDE, REQUEST, 5)
    async with store.begin() as tx:
        now = await tx.now()
        spent = await tx.calls.spent("acme", now.replace(hour=0, minute=0, second=0))
    assert (spent.tokens, spent.usd) == (tokens, pytest.approx(tokens / 1000))


async def test_a_restart_forgets_nothing_and_a_new_day_everything(store: SqlStore) -> None:
    await caller(store, of(calls=3), said("{}", input_tokens=NEED * 2)).send(
        CallKind.CONCLUDE, REQUEST, 5
    )
    with pytest.raises(BudgetSpentError):
        await caller(store, of(calls=3), "{}").send(CallKind.CONCLUDE, REQUEST, 5)
    async with store.begin() as tx:
        await tx.session.execute(text("update llm_calls set sent_at = sent_at - interval '1 day'"))
    reply = await caller(store, of(calls=3), "{}").send(CallKind.VERIFY, REQUEST, 5)
    assert reply.text == "{}"


async def test_over_its_budget_an_incident_keeps_its_facts_and_the_room_hears_it_once(
    world: World,
) -> None:
    async def nothing() -> None:
        return None

    store = Shaky(world.store)
    found, llm = await investigated(
        world, store, nothing, budget=Budget(usd_per_day=5, tokens_per_day=100)
    )
    assert found is SkipReason.BUDGET
    assert llm.asked == []
    assert await world.count("llm_calls") == 0
    assert await world.count("cards", "subject_kind = 'notice'") == 1
    assert await world.count("triage_runs", "run ->> 'skip_reason' = 'budget'") == 1


async def left_for_money(world: World, service: str, severity: Severity, day: str) -> str:
    """An incident that was left alone on a day for lack of money."""
    filed = alert(service=service, severity=severity, namespace=service)
    await world.deliver(filed, now_s=0)
    newest = max(await world.incidents(), key=lambda found: found.number)
    async with world.store.begin() as tx:
        at_ = day_start(await tx.now()) + timedelta(hours={"yesterday": -1, "today": 0}[day])
        facts = {"created_at": at_, "finished_at": at_, "skip_reason": SkipReason.BUDGET}
        skipped = a_run(
            triage_id=f"run-{newest.id}", incident_id=newest.id, client_id="default",
            state=RunState.SKIPPED, **facts,
        )  # fmt: skip
        await tx.runs.add(skipped)
        await tx.session.execute(text("delete from jobs"))
    return newest.id


def stage(world: World, **rules: object) -> StageWorld:
    made = StageRules.model_validate(rules)
    return StageWorld(
        store=world.store, pack=Ports(SystemClock(), str), judge=None, rules=made, provider="p"
    )


async def test_what_yesterdays_money_did_not_cover_is_taken_up_the_worst_first(
    world: World,
) -> None:
    high = await left_for_money(world, "search", Severity.HIGH, "yesterday")
    worst = await left_for_money(world, "ledger", Severity.CRITICAL, "yesterday")
    await left_for_money(world, "cart", Severity.CRITICAL, "today")
    assert await take_up("default", stage(world)) == 2
    async with world.store.begin() as tx:
        due = text("select key from jobs where queue = 'triage' order by run_at")
        assert list((await tx.session.execute(due)).scalars()) == [worst, high]
    assert await take_up("default", stage(world)) == 0


async def test_of_what_waits_for_money_no_more_is_taken_up_than_may_wait(world: World) -> None:
    await left_for_money(world, "search", Severity.HIGH, "yesterday")
    worst = await left_for_money(world, "ledger", Severity.CRITICAL, "yesterday")
    assert await take_up("default", stage(world, triage={"storm_waiting": 1})) == 1
    assert await world.jobs("triage") == [worst]


async def test_what_is_over_or_still_without_money_is_left_alone(world: World) -> None:
    await left_for_money(world, "search", Severity.HIGH, "yesterday")
    assert await take_up("default", stage(world, budget={"usd_per_day": 0})) == 0
    async with world.store.begin() as tx:
        await tx.session.execute(text("update incident_members set state = 'resolved'"))
    assert await take_up("default", stage(world)) == 0


async def test_money_that_is_gone_again_the_next_day_is_said_anew_and_once(world: World) -> None:
    incident_id = await left_for_money(world, "search", Severity.HIGH, "yesterday")
    async with world.store.begin() as tx:
        incident = await tx.incidents.get(incident_id)
        assert incident is not None
        said_ = [await note_skip(tx, incident, SkipReason.BUDGET, new_id) for _ in range(2)]
    assert [run is not None for run in said_] == [True, False]


def test_an_estimate_fills_the_room_of_the_reply_and_counts_all_that_is_sent() -> None:
    found = estimate(REQUEST)
    assert found.output_tokens == 1000
    assert found.cache_creation_input_tokens * 3 <= len(REQUEST.canonical())
    assert Usage(input_tokens=1, output_tokens=2, cache_read_input_tokens=3).total == 6
