"""Is anything else burning? Counts and keys of other incidents, never what was found about them."""

from collections.abc import Iterator, Sequence
from datetime import timedelta

from engine.model.evidence import QueryOutcome
from engine.model.incident import IncidentState
from engine.ports import Neighbour
from engine.verification.kind import CheckKind, Reach, Seen, Subject, plain

WINDOW_S = 3600.0
MOST = 5


async def run(subject: Subject, reach: Reach) -> Seen:
    """Count the client's other incidents of the last hour, and name the worst."""
    now = reach.clock.now()
    since = now - timedelta(seconds=WINDOW_S)
    async with reach.store.begin() as tx:
        others = await tx.incidents.neighbours(subject.incident, since)
    active = [other for other in others if other.state is IncidentState.OPEN]
    return Seen(
        asked=f"other incidents since {since:%H:%M:%S}Z",
        outcome=QueryOutcome.FETCHED,
        text="\n".join([_count(len(active), len(others) - len(active)), *_named(others)]),
        evaluated_at=now,
        figures={"active": len(active), "history": len(others) - len(active)},
    )


def _count(active: int, over: int) -> str:
    return f"other incidents in the last 60 min: {active} active, {over} over (history)"


def _named(others: Sequence[Neighbour]) -> Iterator[str]:
    """Name up to five, active ones first, then the worst."""
    ranked = sorted(others, key=lambda o: (o.state is not IncidentState.OPEN, -o.severity.rank))
    for other in ranked[:MOST]:
        history = "" if other.state is IncidentState.OPEN else " (history)"
        yield f"- {plain(other.key)}: {other.severity}, {other.state}{history}"
    if len(others) > MOST:
        yield f"- {len(others) - MOST} more"


CHECK = CheckKind(
    name="incidents_in_window",
    run=run,
    floor=lambda _subject, _reach: True,
    backend=None,
)
