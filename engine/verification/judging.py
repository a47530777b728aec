"""Call 2: the draft judged against what was fetched to disprove it, in a time of its own."""

import logging
from collections.abc import Iterator

from engine.citations import telling_ids
from engine.errors import EngineError, TimedOutError
from engine.investigation.conclude import judging
from engine.investigation.drafting import Drafted
from engine.investigation.judgement import judgement_of
from engine.investigation.reply import Unreadable, read_ruling
from engine.investigation.session import Session
from engine.investigation.stops import Stop, stop_of
from engine.investigation.transcript import strayed
from engine.model.correction import Correction
from engine.model.event import SessionEvent
from engine.model.finding import Judgement, VerifyStatus
from engine.model.llm import ModelReply, ModelRequest
from engine.model.policy import TriageRule
from engine.model.run import CallKind
from engine.verification.round import Batch
from engine.verification.wide import held_to_checks

logger = logging.getLogger(__name__)
LEAST_S = 1.0
"""Less than this is no attempt."""


async def judgement(
    session: Session, drafted: Drafted, batch: Batch, correction: Correction | None = None
) -> Judgement | VerifyStatus:
    """Ask for the judgement; a call that is lost gives how it was lost, and costs no draft."""
    request = judging(
        drafted.request, drafted.reply, batch.results, session.setting, session.rule, correction
    )
    try:
        reply = await _settled(session, request)
    except TimedOutError:
        return VerifyStatus.TIMED_OUT
    except EngineError as error:
        logger.warning("the judgement of %s was lost: %s", session.run.triage_id, error)
        return VerifyStatus.ERRORED
    ruled = read_ruling(reply.text) if stop_of(reply) is Stop.WHOLE else _unfinished(reply)
    if isinstance(ruled, Unreadable):
        facts = {"call": CallKind.VERIFY.value, "why": ruled.why[:200]}
        await session.ports.events(SessionEvent.UNREADABLE, facts)
        return VerifyStatus.ERRORED
    telling = telling_ids(session.pack, batch.results, session.ledger.entries)
    said = judgement_of(ruled, drafted.draft, telling)
    expression = session.pack.anchor.expression
    rulings = held_to_checks(said.rulings, batch.results, session.incident, expression)
    return said.model_copy(update={"rulings": rulings})


def _unfinished(reply: ModelReply) -> Unreadable:
    return Unreadable(why=f"the reply is {stop_of(reply)}")


async def _settled(session: Session, request: ModelRequest) -> ModelReply:
    """Send within the stage's own time; a reply that asks for tools is told once that it cannot."""
    until_s = session.ports.clock.monotonic() + session.rule.verify_deadline
    reply = await _sent(session, request, until_s)
    if stop_of(reply) is Stop.ASKS:
        return await _sent(session, strayed(request, reply), until_s)
    return reply


async def _sent(session: Session, request: ModelRequest, until_s: float) -> ModelReply:
    """Send; one more try on a time-out has what the first left."""
    clock = session.ports.clock
    late = TimedOutError()
    for attempt, most_s in enumerate(_attempts(session.rule)):
        left_s = until_s - clock.monotonic()
        if left_s < LEAST_S:
            break
        if attempt:
            await session.ports.events(SessionEvent.VERIFY_RETRY, {})
        try:
            return await session.caller.send(CallKind.VERIFY, request, min(most_s, left_s))
        except TimedOutError as error:
            late = error
    raise late


def _attempts(rule: TriageRule) -> Iterator[float]:
    """Give how long each attempt may take at most; the last one has all that is left."""
    yield from [rule.verify_first_s] * rule.verify_max_retries
    yield rule.verify_deadline
