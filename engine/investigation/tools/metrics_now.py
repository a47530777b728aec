"""Values of a PromQL expression at one moment."""

from pydantic import Field

from engine.investigation.tool import Arguments, Bench, Refused, Told, Tool, Wanted
from engine.investigation.tools import promql
from engine.investigation.tools.span import Moment, instant
from engine.model.evidence import Gap, Invalid, Question, outcome_of
from engine.model.ledger import ToolName
from engine.promql.caps import MAX_CHARACTERS


class Asked(Arguments):
    """What to evaluate, and when."""

    query: str = Field(description="One PromQL expression.", max_length=MAX_CHARACTERS)
    at: Moment | None = Field(None, description="ISO 8601; without it now.")


async def want(asked: Asked, bench: Bench) -> Wanted | Refused:
    """Judge the query and take the moment."""
    at = instant(asked.at, bench)
    query = at if isinstance(at, Refused) else await promql.fit(asked.query, bench)
    if isinstance(at, Refused) or isinstance(query, Refused):
        return query if isinstance(query, Refused) else Refused(why="no such moment")
    question = Question(tool=bench.reach.backend().name, queries={promql.NAME: query}, at=at)
    return Wanted(asked=query, start_at=at, end_at=at, question=question)


async def tell(wanted: Wanted, bench: Bench) -> Told:
    """Give the highest values first, each before its labels."""
    backend = bench.reach.backend()
    assert wanted.question is not None
    outcome = await backend.ask(wanted.question)
    if isinstance(outcome, Gap | Invalid):
        return promql.unanswered(outcome, backend.name)
    ranked = sorted(promql.series_of(outcome), key=lambda one: -one.last)
    lines = (f"{one.last:.6g} {promql.named(one)}" for one in ranked)
    found = promql.listed(lines, outcome) if ranked else "(no data)"
    return Told(
        outcome=outcome_of(outcome),
        text=f"at {outcome.evaluated_at:%Y-%m-%d %H:%M:%S}Z\n{found}",
        whole=promql.whole(outcome),
        backend=backend.name,
    )


TOOL = Tool(
    name=ToolName.METRICS_NOW,
    arguments=Asked,
    offered=promql.offered,
    want=want,
    tell=tell,
    same=promql.same,
)
