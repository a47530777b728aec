"""A query somebody wrote, of the model or a person: judged and narrowed before it is sent."""

from collections.abc import Iterator, Mapping

from engine.model.evidence import (
    Answered,
    Empty,
    Gap,
    Invalid,
    QueryOutcome,
    Question,
    Series,
)
from engine.promql.policy import Policy
from engine.promql.selectors import NAME_LABEL, selectors
from engine.verification.admitting import admitted
from engine.verification.kind import Reach, Seen, Subject, plain, unanswered
from engine.verification.scope import narrowest

MOST_SERIES = 8
MOST_LABELS = 6
NAME = "query"


async def queried(subject: Subject, reach: Reach, policy: Policy | None) -> Seen:
    """Judge the query, narrow it to the client and the incident's scope, then ask.

    Args:
        subject: the incident and the query.
        reach: whom to ask.
        policy: how far a model may reach; None for what a person wrote.
    """
    query = subject.query
    scoped = await admitted(query, narrowest(subject.incident), reach, policy)
    if isinstance(scoped, Invalid):
        return unanswered(scoped, asked=query, name=NAME)
    outcome = await reach.backend().ask(Question(tool=reach.backend().name, queries={NAME: scoped}))
    if isinstance(outcome, Gap | Invalid):
        return unanswered(outcome, asked=scoped, name=NAME)
    return _seen(scoped, outcome, reach)


def _seen(query: str, answer: Answered | Empty, reach: Reach) -> Seen:
    series = answer.results.get(NAME, ()) if isinstance(answer, Answered) else ()
    truncated = answer.truncated if isinstance(answer, Answered) else 0
    lines = [f"{plain(query, 400)} at {answer.evaluated_at:%H:%M:%S}Z"]
    lines += _said(series, truncated) if series else ["(no data)"]
    return Seen(
        asked=query,
        outcome=QueryOutcome.FETCHED if series else QueryOutcome.EMPTY,
        text="\n".join(lines),
        scope=_held(query),
        scoped=_is_scoped(query, reach.extra_matchers),
        evaluated_at=answer.evaluated_at,
        figures={NAME: series[0].last} if len(series) == 1 else {},
    )


def _said(series: tuple[Series, ...], truncated: int) -> Iterator[str]:
    """Give the highest values first, each before its labels; say how many are left out."""
    ranked = sorted(series, key=lambda one: -one.last)
    for one in ranked[:MOST_SERIES]:
        labels = [f"{plain(k, 64)}={plain(v, 64)}" for k, v in sorted(one.labels.items())]
        cut = ["…"] if len(labels) > MOST_LABELS else []
        yield f"{one.last:.6g} {{{', '.join(labels[:MOST_LABELS] + cut)}}}"
    left = len(series) - min(len(series), MOST_SERIES) + truncated
    if left:
        yield f"{left} more"


def _held(query: str) -> dict[str, str]:
    """Give the labels every selector holds to the same value."""
    held = [
        {m.label: m.value for m in s.matchers if m.pins and m.label != NAME_LABEL}
        for s in selectors(query)
    ]
    first = held[0] if held else {}
    return {k: v for k, v in first.items() if all(one.get(k) == v for one in held)}


def _is_scoped(query: str, extra: Mapping[str, str]) -> bool:
    """Whether every selector holds a label to a value; what the whole client holds is no scope."""
    found = selectors(query)
    return bool(found) and all(
        any(m.pins and m.label != NAME_LABEL and m.label not in extra for m in s.matchers)
        for s in found
    )
