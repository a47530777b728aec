"""The one repair call of a round: queries of the model's own that do not parse, all of them once.

What comes back is sent only if it parses and still asks what the broken text asked.
"""

import logging
from collections import Counter
from collections.abc import Mapping, Sequence

from engine.errors import EngineError
from engine.investigation.repairs import Broken, read_repairs, repairing
from engine.investigation.session import Session
from engine.investigation.stops import Stop, stop_of
from engine.model.event import SessionEvent
from engine.model.finding import PlannedCheck, PlannedCheckKind
from engine.model.run import CallKind
from engine.promql.check import InvalidReason, check
from engine.promql.policy import FOR_MODELS
from engine.promql.repair import Repair, judge_repair
from engine.promql.server import ServerInfo
from engine.verification.round import choose

logger = logging.getLogger(__name__)
REPAIR_S = 20.0
"""The floor waits for it, and it is a few lines."""

Repairs = Mapping[str, str]
"""The corrected text of each query that was corrected."""


async def repaired(session: Session, plan: Sequence[PlannedCheck]) -> Repairs:
    """Have the broken queries of a plan corrected; no call where there is none. Never a second."""
    rule = session.rule.verification
    chosen = choose(plan, session.ports.reach, rule.max_queries)
    broken = _broken(chosen, session.ports.server)
    if not broken:
        return {}
    said = await _asked(session, broken)
    judged = {} if said is None else _judged(broken, said, session.ports.server)
    counts = Counter(judge for judge, _ in judged.values())
    fixed = {query: text for query, (judge, text) in judged.items() if judge is Repair.REPAIRED}
    facts: dict[str, str | int] = {
        "result": _result(len(broken), counts),
        "attempted": len(broken),
        "repaired": len(fixed),
        "invalid": len(broken) - len(fixed),
    }
    await session.ports.events(SessionEvent.REPAIR, facts)
    return fixed


def _broken(plan: Sequence[PlannedCheck], server: ServerInfo | None) -> list[Broken]:
    """Find what does not parse; a query that policy forbids is not a matter of syntax."""
    queries = [one.query for one in plan if one.kind is PlannedCheckKind.PROMQL]
    found = [(query, check(query, server=server, policy=FOR_MODELS)) for query in queries]
    return [
        Broken(query=query, why=verdict.detail)
        for query, verdict in found
        if verdict.reason is InvalidReason.SYNTAX
    ]


async def _asked(session: Session, broken: Sequence[Broken]) -> Mapping[int, str] | None:
    """Make the call; a call that fails, or a reply that is none, corrects nothing."""
    request = repairing(
        broken,
        session.run.fence,
        model=session.setting.model,
        max_tokens=session.rule.verification.repair_max_output_tokens,
    )
    try:
        reply = await session.caller.send(
            CallKind.REPAIR, request, min(REPAIR_S, session.rule.call_timeout_s)
        )
    except EngineError as error:
        logger.warning("the repair call of %s was lost: %s", session.run.triage_id, error)
        return None
    return read_repairs(reply.text, len(broken)) if stop_of(reply) is Stop.WHOLE else None


def _judged(
    broken: Sequence[Broken], said: Mapping[int, str], server: ServerInfo | None
) -> dict[str, tuple[Repair, str]]:
    """Hold every replacement against what it replaces."""
    return {
        one.query: (judge_repair(one.query, said[n], server=server, policy=FOR_MODELS), said[n])
        for n, one in enumerate(broken, start=1)
        if n in said
    }


def _result(attempted: int, counts: Mapping[Repair, int]) -> str:
    """Name how the call ended, in the closed words that are counted."""
    if counts[Repair.REPAIRED] == attempted:
        return "fixed"
    if counts[Repair.REPAIRED]:
        return "partly"
    return "rejected_changed_meaning" if counts[Repair.CHANGED_MEANING] else "failed"
