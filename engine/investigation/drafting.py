"""Call 1: the draft, with one more try where the reply was no use."""

from dataclasses import dataclass

from engine.errors import (
    BudgetSpentError,
    EngineError,
    PackTooLongError,
    TerminalError,
    TimedOutError,
    TransientError,
    UnknownModelError,
)
from engine.investigation.bounds import Bounds
from engine.investigation.conclude import asked_again, opening
from engine.investigation.loop import Looking
from engine.investigation.reply import Read, Unreadable, read_draft
from engine.investigation.session import Session
from engine.investigation.stops import Stop, stop_of
from engine.model.event import EventFacts, SessionEvent
from engine.model.finding import Draft
from engine.model.llm import ModelReply, ModelRequest
from engine.model.run import CallKind, Usage
from engine.pack.section import SectionNote
from engine.pack.shortening import shortened

LARGER = 2
"""How many times the room a reply gets that was cut off."""


@dataclass(frozen=True)
class Drafted:
    """A draft with the words it came in and the request that brought it."""

    draft: Draft
    reply: str
    request: ModelRequest
    usage: Usage


async def draft(session: Session) -> Drafted | None:
    """Look as far as the bounds allow, and ask for a draft; twice at most where it is unreadable.

    None when neither reply could be read as one, or no bound left anything better.

    Raises:
        EngineError: the provider failed, refused, cut the reply off twice or stayed silent twice.
            Once a bound is reached, a reply that is late, not to be paid or no use is the end of
            it and no error.
    """

    async def send(request: ModelRequest, timeout_s: float) -> tuple[ModelRequest, ModelReply]:
        return await _sent(session, request, timeout_s)

    looking = Looking(session, send, Bounds.of(session.rule), "loop")
    try:
        drafted = await _fitted(session, looking)
    except (TimedOutError, BudgetSpentError):
        if looking.bound is None:
            raise
        drafted = None
    await looking.ended()
    return drafted


async def _fitted(session: Session, looking: Looking) -> Drafted | None:
    """Ask with the pack as it is, and once more with a shorter one where that is too long."""
    try:
        return await _drafted(session, looking)
    except PackTooLongError:
        if session.pack.revision > 1:
            raise
        await _shorten(session)
    return await _drafted(session, looking)


async def _shorten(session: Session) -> None:
    """Freeze a shorter revision of the pack; from now on the run rests on it."""
    pack, ports = shortened(session.pack), session.ports
    async with ports.store.begin() as tx:
        await tx.findings.keep_pack(pack)
        stored = await tx.runs.get(session.run.triage_id) or session.run
        await tx.runs.save(stored.model_copy(update={"pack_hash": pack.hash}))
    session.rest_on(pack)
    cut = [section.name for section in pack.sections if SectionNote.SHORTENED in section.note]
    size = len(pack.canonical().encode())
    facts: EventFacts = {"sections": ",".join(cut), "hash": pack.hash, "bytes": size}
    await ports.events(SessionEvent.SHORTENED, facts)


async def _drafted(session: Session, looking: Looking) -> Drafted | None:
    request = opening(session.pack, session.setting, session.rule)
    sent, reply = await looking.concluded(request)
    read = _read(reply)
    if isinstance(read, Read):
        return await _taken(session, read, reply, sent)
    if looking.bound is None or stop_of(reply) is Stop.WHOLE:
        sent, reply = await looking.concluded(await _retry(session, sent, reply, read))
        read = _read(reply)
        if isinstance(read, Read):
            return await _taken(session, read, reply, sent)
    await _unreadable(session, read)
    if looking.bound is None:
        _give_up(reply)
    return None


def _read(reply: ModelReply) -> Read | Unreadable:
    match stop_of(reply):
        case Stop.WHOLE:
            return read_draft(reply.text)
        case Stop.CUT:
            return Unreadable(why="the reply was cut off before its end")
        case Stop.SILENT:
            return Unreadable(why="the reply was empty")
        case Stop.REFUSED:
            return Unreadable(why="the model refused")
        case Stop.ASKS:
            return read_draft(reply.text)


async def _sent(
    session: Session, request: ModelRequest, timeout_s: float
) -> tuple[ModelRequest, ModelReply]:
    """Send, and once in a triage with the other model when the name of the first is refused."""
    try:
        reply = await session.caller.send(CallKind.CONCLUDE, request, timeout_s)
    except UnknownModelError:
        other = await _fallen_back(session, request)
        if other is None:
            raise
        return other, await session.caller.send(CallKind.CONCLUDE, other, timeout_s)
    if stop_of(reply) is Stop.REFUSED:
        other = await _fallen_back(session, request)
        if other is not None:
            return other, await session.caller.send(CallKind.CONCLUDE, other, timeout_s)
    return request, reply


async def _fallen_back(session: Session, request: ModelRequest) -> ModelRequest | None:
    """Switch the session to the other model; None when it is the other one already."""
    other = session.rule.fallback_model
    if request.model == other:
        return None
    await session.ports.events(SessionEvent.FALLBACK, {"from": request.model, "to": other})
    session.setting = session.setting.model_copy(update={"model": other})
    return request.model_copy(update={"model": other})


async def _retry(
    session: Session, request: ModelRequest, reply: ModelReply, read: Unreadable
) -> ModelRequest:
    """Make the second request: with more room, the same again, or with what was wrong."""
    await _unreadable(session, read)
    match stop_of(reply):
        case Stop.CUT:
            return request.model_copy(update={"max_tokens": request.max_tokens * LARGER})
        case Stop.SILENT:
            return request
        case Stop.REFUSED:
            raise TerminalError("the model refused to answer")
        case Stop.WHOLE | Stop.ASKS:
            return asked_again(request, reply.text, read.why, "draft")


def _give_up(reply: ModelReply) -> None:
    """Raise where a delivery, or none, is the answer; words that are no draft just end here."""
    error: EngineError | None = None
    match stop_of(reply):
        case Stop.CUT:
            error = TerminalError("the reply was cut off twice: raise triage.conclude_max_tokens")
        case Stop.REFUSED:
            error = TerminalError("the model refused to answer")
        case Stop.SILENT:
            error = TransientError("the reply was empty twice")
        case Stop.WHOLE | Stop.ASKS:
            pass
    if error is not None:
        raise error


async def _unreadable(session: Session, read: Unreadable) -> None:
    facts = {"call": CallKind.CONCLUDE.value, "why": read.why[:200]}
    await session.ports.events(SessionEvent.UNREADABLE, facts)


async def _taken(session: Session, read: Read, reply: ModelReply, request: ModelRequest) -> Drafted:
    facts = {
        "abstains": read.draft.abstains,
        "self_confidence": read.draft.self_confidence,
        "planned": len(read.draft.plan),
        "dropped": read.dropped,
    }
    await session.ports.events(SessionEvent.DRAFT, facts)
    return Drafted(draft=read.draft, reply=reply.text, request=request, usage=reply.usage)
