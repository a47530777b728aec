"""A model's query made fit to be sent: judged, then held to its client and scope."""

from collections.abc import Mapping

from engine.model.evidence import Invalid, InvalidReason
from engine.ports import ArbiterSays
from engine.promql.check import Verdict, check
from engine.promql.narrow import Inserted, NotInserted, insert_matchers
from engine.promql.policy import Policy
from engine.verification.kind import Reach


async def admitted(
    query: str, scope: Mapping[str, str], reach: Reach, policy: Policy | None
) -> str | Invalid:
    """Give the text that may be sent, or why none may.

    Args:
        query: as its author wrote it.
        scope: what selectors that hold no label to a value are held to.
        reach: the client's own matchers, its server and that server's parser.
        policy: how far a model may reach; None for what a person wrote.
    """
    return await refused(query, reach, policy) or narrowed(query, scope, reach)


async def refused(query: str, reach: Reach, policy: Policy | None) -> Invalid | None:
    """Give the reason why a query is never sent, or None; the server rules where we are unsure."""
    found = check(query, server=reach.server, policy=policy)
    if found.verdict is Verdict.VALID:
        return None
    if found.verdict is Verdict.INVALID and found.reason is not None:
        return Invalid(
            expression=query, reason=InvalidReason(found.reason.value), detail=found.detail
        )
    says, words = ArbiterSays.UNREACHABLE, found.detail
    if reach.arbiter is not None:
        says, words = await reach.arbiter.judge(query)
    match says:
        case ArbiterSays.VALID:
            return None
        case ArbiterSays.INVALID:
            return Invalid(expression=query, reason=InvalidReason.SYNTAX, detail=words)
        case ArbiterSays.UNREACHABLE:
            return Invalid(expression=query, reason=InvalidReason.UNSURE, detail=words)


def narrowed(query: str, scope: Mapping[str, str], reach: Reach) -> str | Invalid:
    """Hold selectors to the client, and to the incident's scope where they hold to nothing."""
    scoped = insert_matchers(query, scope, only_where_missing=True, server=reach.server)
    if isinstance(scoped, Inserted):
        extra = reach.extra_matchers
        scoped = insert_matchers(scoped.expr, extra, only_where_missing=False, server=reach.server)
    match scoped:
        case Inserted():
            return scoped.expr
        case NotInserted():
            return Invalid(expression=query, reason=InvalidReason.SCOPE, detail=scoped.detail)
