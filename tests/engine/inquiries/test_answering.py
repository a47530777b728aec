"""How a question ends: answered, not looked into, or given up; on a real database."""

import itertools
from collections.abc import Callable
from datetime import timedelta

import pytest
from sqlalchemy import text

from bot.backends.clock import SystemClock
from engine.errors import OperatorActionRequiredError, TransientError
from engine.failures import Dead, RetryAt
from engine.inquiries.answering import Outcome, answer
from engine.inquiries.choosing import look
from engine.investigation.cache import CacheWatch
from engine.investigation.session import JudgePorts
from engine.model.finding import Finding
from engine.model.inquiry import Answered, Inquiry, InquiryState
from engine.model.run import RunTrigger, SkipReason
from engine.pack.section import Ports
from engine.ports import Queue
from engine.stages.world import StageRules
from engine.stages.world import World as StageWorld
from storage.queue import PostgresQueue
from tests.engine.conftest import World, at
from tests.engine.judged import drafted, ruled
from tests.engine.test_investigate import unheard
from tests.fakes import ScriptedLLM

SCOPE = {"namespace": "checkout", "service": "checkout-api"}


async def asked(world: World, *, on: bool = True) -> Inquiry:
    made = Inquiry(
        id="q" * 32,
        client_id="default",
        room_id="room",
        text="why is checkout-api slow",
        asked_by="alice",
        account="slack:U0ALICE",
        asked_at=at(0),
        start_at=at(0) - timedelta(hours=1),
        end_at=at(0),
        scope=SCOPE,
    )
    async with world.store.begin() as tx:
        await tx.org.set_flag("default", "ai_triage", on)
        await tx.inquiries.save(made)
        await tx.cards.wish_inquiry(made)
        await look(tx, made)
    return made


async def answered(
    world: World, *replies: str | Exception, model: bool = True
) -> tuple[Outcome, Answered, ScriptedLLM]:
    llm, clock = ScriptedLLM([*replies]), SystemClock()
    new_id = ids()
    judge = JudgePorts(
        store=world.store,
        llm=llm,
        clock=clock,
        new_id=new_id,
        events=unheard,
        price=lambda _model, _usage: 0.0,
        cache=CacheWatch(),
    )
    stage = StageWorld(
        store=world.store,
        pack=Ports(clock, str),
        judge=judge if model else None,
        rules=StageRules(),
    )
    [job] = await PostgresQueue(world.store).claim([Queue.TRIAGE], 1)
    outcome = await answer(job, stage, world.store, new_id)
    async with world.store.begin() as tx:
        told = await tx.inquiries.answered("q" * 32)
    assert told is not None
    return outcome, told, llm


def ids() -> Callable[[], str]:
    numbers = itertools.count(10**6)
    return lambda: f"{next(numbers):032x}"


async def test_an_answer_is_a_stamped_finding_and_opens_no_incident(world: World) -> None:
    await asked(world)
    outcome, told, llm = await answered(world, drafted(), ruled())
    assert isinstance(outcome, Finding)
    assert told.finding == outcome
    assert told.inquiry.state is InquiryState.ANSWERED
    assert told.run is not None
    assert told.run.trigger is RunTrigger.ENGAGE
    assert len(llm.asked) == 2
    assert await world.incidents() == []
    assert await world.jobs("triage") == []
    assert await world.count("review_items") == 0


async def test_a_question_is_answered_once(world: World) -> None:
    made = await asked(world)
    await answered(world, drafted(), ruled())
    async with world.store.begin() as tx:
        await look(tx, made)
    outcome, _, llm = await answered(world)
    assert (outcome, llm.asked) == (None, [])


@pytest.mark.proves("S3-9", "S3-13")
async def test_a_flag_that_went_off_meanwhile_is_seen_when_the_job_runs(world: World) -> None:
    await asked(world, on=False)
    outcome, told, llm = await answered(world, drafted(), ruled())
    assert outcome is SkipReason.FLAG_OFF
    assert (told.inquiry.state, told.inquiry.skip_reason) == (InquiryState.SKIPPED, outcome)
    assert llm.asked == []


async def test_without_a_model_it_says_so(world: World) -> None:
    await asked(world)
    outcome, told, _ = await answered(world, model=False)
    assert outcome is SkipReason.NO_MODEL
    assert told.inquiry.skip_reason is SkipReason.NO_MODEL


async def test_a_busy_provider_is_tried_again_and_the_message_says_when(world: World) -> None:
    await asked(world)
    outcome, told, _ = await answered(world, TransientError("busy"))
    assert isinstance(outcome, RetryAt)
    assert told.inquiry.state is InquiryState.WAITING
    assert told.run is not None
    assert told.run.next_try_at == outcome.at


async def test_what_needs_a_person_ends_the_question(world: World) -> None:
    await asked(world)
    outcome, told, _ = await answered(world, OperatorActionRequiredError("no credit"))
    assert isinstance(outcome, Dead)
    assert told.inquiry.state is InquiryState.FAILED


async def test_a_question_whose_workers_die_is_given_up_and_says_so(world: World) -> None:
    await asked(world)
    async with world.store.begin() as tx:
        await tx.session.execute(text("update jobs set claims_without_verb = 99"))
    assert await PostgresQueue(world.store).claim([Queue.TRIAGE], 1) == []
    async with world.store.begin() as tx:
        told = await tx.inquiries.get("q" * 32)
    assert told is not None
    assert told.state is InquiryState.FAILED
