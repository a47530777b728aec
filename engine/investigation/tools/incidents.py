"""Other incidents of the client: counts and keys, never what was found about them."""

from collections.abc import Iterator, Sequence
from datetime import timedelta

from pydantic import Field

from engine.investigation.tool import Arguments, Bench, Refused, Told, Tool, Wanted
from engine.model.evidence import QueryOutcome
from engine.model.incident import IncidentState
from engine.model.ledger import ToolName
from engine.ports import Neighbour
from engine.verification.kind import plain

MOST = 20
DAY_MIN = 24 * 60


class Asked(Arguments):
    """How far back."""

    minutes: int = Field(60, description="How far back to look, minutes.", ge=1, le=DAY_MIN)


async def want(asked: Asked, bench: Bench) -> Wanted | Refused:
    """Take the time."""
    now = bench.reach.clock.now()
    since = now - timedelta(minutes=asked.minutes)
    return Wanted(asked="other incidents", start_at=since, end_at=now)


async def tell(wanted: Wanted, bench: Bench) -> Told:
    """Count them and name the worst; what is over is history."""
    async with bench.reach.store.begin() as tx:
        others = await tx.incidents.neighbours(bench.subject.incident, wanted.start_at)
    active = [other for other in others if other.state is IncidentState.OPEN]
    text = f"other incidents: {len(active)} active, {len(others) - len(active)} over (history)"
    return Told(outcome=QueryOutcome.FETCHED, text="\n".join([text, *_named(others)]))


def _named(others: Sequence[Neighbour]) -> Iterator[str]:
    ranked = sorted(others, key=lambda o: (o.state is not IncidentState.OPEN, -o.severity.rank))
    for other in ranked[:MOST]:
        history = "" if other.state is IncidentState.OPEN else " (history)"
        yield f"- {plain(other.key)}: {other.severity}, {other.state}{history}"
    if len(others) > MOST:
        yield f"- {len(others) - MOST} more"


TOOL = Tool(
    name=ToolName.INCIDENTS,
    arguments=Asked,
    offered=lambda _: True,
    want=want,
    tell=tell,
)
