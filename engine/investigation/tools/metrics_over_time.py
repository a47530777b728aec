"""A PromQL expression over a stretch of time, each series in a few figures."""

from datetime import UTC, datetime
from statistics import fmean

from pydantic import Field

from engine.investigation.tool import Arguments, Bench, Refused, Told, Tool, Wanted
from engine.investigation.tools import promql
from engine.investigation.tools.span import END, START, Moment, window
from engine.model.evidence import Gap, Invalid, Question, Series, outcome_of
from engine.model.ledger import ToolName
from engine.promql.caps import MAX_CHARACTERS

MOST_VALUES = 12


class Asked(Arguments):
    """What to evaluate, and over which time."""

    query: str = Field(description="One PromQL expression.", max_length=MAX_CHARACTERS)
    start: Moment | None = START
    end: Moment | None = END


async def want(asked: Asked, bench: Bench) -> Wanted | Refused:
    """Judge the query and take the time."""
    span = window(asked.start, asked.end, bench)
    if isinstance(span, Refused):
        return span
    query = await promql.fit(asked.query, bench)
    if isinstance(query, Refused):
        return query
    backend = bench.reach.backend().name
    question = Question(tool=backend, queries={promql.NAME: query}, window=span)
    return Wanted(asked=query, start_at=span.start_at, end_at=span.end_at, question=question)


async def tell(wanted: Wanted, bench: Bench) -> Told:
    """Give what moved most first."""
    backend = bench.reach.backend()
    assert wanted.question is not None
    outcome = await backend.ask(wanted.question)
    if isinstance(outcome, Gap | Invalid):
        return promql.unanswered(outcome, backend.name)
    ranked = sorted(promql.series_of(outcome), key=lambda one: -_moved(one))
    found = promql.listed(map(_said, ranked), outcome) if ranked else "(no data)"
    span = f"{wanted.start_at:%Y-%m-%d %H:%M:%S}Z to {wanted.end_at:%H:%M:%S}Z"
    return Told(
        outcome=outcome_of(outcome),
        text=f"{span}\n{found}",
        whole=promql.whole(outcome),
        backend=backend.name,
    )


def _moved(series: Series) -> float:
    values = [value for _, value in series.points]
    return (max(values) - min(values)) / (abs(fmean(values)) or 1.0)


def _said(series: Series) -> str:
    """Name the extremes with their times, and a few values in between."""
    low = min(series.points, key=lambda point: point[1])
    high = max(series.points, key=lambda point: point[1])
    mean = fmean(value for _, value in series.points)
    every = max(1, -(-len(series.points) // MOST_VALUES))
    values = " ".join(f"{value:.4g}" for _, value in series.points[::every])
    return (
        f"{promql.named(series)} min {low[1]:.6g} at {_clock(low[0])}, mean {mean:.6g},"
        f" max {high[1]:.6g} at {_clock(high[0])}, last {series.last:.6g}; values {values}"
    )


def _clock(at: float) -> str:
    return f"{datetime.fromtimestamp(at, UTC):%H:%M:%S}Z"


TOOL = Tool(
    name=ToolName.METRICS_OVER_TIME,
    arguments=Asked,
    offered=promql.offered,
    want=want,
    tell=tell,
    same=promql.same,
)
