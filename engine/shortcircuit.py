"""A cause that is known from an earlier case, looked for before anything is investigated.

It is only a draft: the checks and the judgement run all the same.
"""

import logging
from enum import StrEnum

from engine.errors import EngineError, OperatorActionRequiredError
from engine.investigation.bounds import Bounds
from engine.investigation.conclude import asked_again, confirming
from engine.investigation.drafting import Drafted
from engine.investigation.judgement import replaced
from engine.investigation.loop import Looking
from engine.investigation.reply import Read, Unreadable, read_draft
from engine.investigation.session import Session
from engine.investigation.stops import Stop, stop_of
from engine.memory.symptom import symptom
from engine.model.finding import Draft, Finding, VerifyStatus
from engine.model.llm import ModelReply, ModelRequest
from engine.model.memory import Near, Stub
from engine.model.run import CallKind

logger = logging.getLogger(__name__)


class ShortCircuit(StrEnum):
    """What became of the way past the investigation."""

    DISABLED = "disabled"
    NO_CANDIDATE = "no_candidate"
    ADOPTED = "adopted"
    FELL_THROUGH = "fell_through"
    """Not adopted, or adopted and refuted: the whole investigation ran."""


def armed(session: Session) -> bool:
    """Whether memory may be asked: a distance is set, for the embedding that is in use."""
    rule = session.rule
    if rule.memory_shortcircuit_distance <= 0 or not rule.verification.enabled:
        return False
    embedder = session.ports.embedder
    wanted = rule.memory_shortcircuit_embedding
    if embedder is None or embedder.name != wanted:
        told = "none is in use" if embedder is None else f"{embedder.name!r} is in use"
        logger.warning("no short-circuit: its distance is for embedding %r, %s", wanted, told)
        return False
    return True


async def candidate(session: Session) -> Near | None:
    """Find the nearest stub that holds and is near enough."""
    embedder = session.ports.embedder
    if embedder is None:
        return None
    vector = await embedder.embed(symptom(session.pack.anchor))
    async with session.ports.store.begin() as tx:
        found = await tx.stubs.nearest(
            session.run.client_id,
            embedder.name,
            vector,
            most=session.rule.memory_shortcircuit_distance,
            held_s=session.rule.memory_held_s,
        )
    return found[0] if found else None


async def confirm(session: Session, near: Near) -> Drafted | None:
    """Ask in a small budget whether it is the same cause; None when it is not adopted.

    Raises:
        OperatorActionRequiredError: only a person can clear it; asking again would cost again.
    """
    caller = session.caller

    async def send(request: ModelRequest, timeout_s: float) -> tuple[ModelRequest, ModelReply]:
        return request, await caller.send(CallKind.CONFIRM, request, timeout_s)

    looking = Looking(session, send, Bounds.confirming(session.rule), "confirm")
    try:
        drafted = await _confirmed(session, near, looking)
    except OperatorActionRequiredError:
        raise
    except EngineError as error:
        logger.warning("the confirm pass of %s was lost: %s", session.run.triage_id, error)
        drafted = None
    await looking.ended()
    return drafted


async def _confirmed(session: Session, near: Near, looking: Looking) -> Drafted | None:
    """Ask until a reply can be read, so many times at most."""
    request = confirming(session.pack, session.setting, session.rule, near.stub)
    for _ in range(session.rule.confirm_max_loops):
        sent, reply = await looking.concluded(request)
        read = _read(reply)
        if isinstance(read, Read):
            adopted = adopts(read.draft, near.stub)
            return Drafted(read.draft, reply.text, sent, reply.usage) if adopted else None
        request = asked_again(sent, reply.text, read.why, "draft")
    return None


def _read(reply: ModelReply) -> Read | Unreadable:
    stop = stop_of(reply)
    return read_draft(reply.text) if stop is Stop.WHOLE else Unreadable(why=f"the reply is {stop}")


def adopts(draft: Draft, stub: Stub) -> bool:
    """Whether a draft holds the remembered cause. Keys are compared, never prose."""
    key = draft.root_cause_key
    return key is not None and not replaced(stub.root_cause_key, key)


def stands(finding: Finding) -> bool:
    """Whether an adopted cause got through the judgement; one that was lost stands as it was."""
    gone = finding.verify_status in {VerifyStatus.REFUTED, VerifyStatus.NO_ANALYSIS}
    return finding.root_cause is not None and not finding.replaced and not gone
