"""Log lines of what carries some labels. The query is written here, never by a model."""

from typing import Annotated

from pydantic import Field, StringConstraints

from engine.fence import LABEL_CHARACTERS
from engine.investigation.tool import Arguments, Bench, Refused, Told, Tool, Wanted
from engine.investigation.tools import lines
from engine.investigation.tools.span import END, START, Moment, window
from engine.model.evidence import Question
from engine.model.ledger import ToolName
from engine.promql.selectors import selector
from engine.promql.strings import quote

MOST_LABELS = 10
Name = Annotated[str, StringConstraints(pattern=r"^[a-zA-Z_][a-zA-Z0-9_]{0,63}$")]
Value = Annotated[str, StringConstraints(min_length=1, max_length=LABEL_CHARACTERS)]


class Asked(Arguments):
    """Whose lines, and which."""

    labels: dict[Name, Value] = Field(
        description="Labels the lines carry, each with its exact value.",
        min_length=1,
        max_length=MOST_LABELS,
    )
    contains: str = Field("", description="Text a line must hold.", max_length=LABEL_CHARACTERS)
    start: Moment | None = START
    end: Moment | None = END


async def want(asked: Asked, bench: Bench) -> Wanted | Refused:
    """Write the query, held to the client's own matchers whatever the model gave."""
    span = window(asked.start, asked.end, bench)
    if isinstance(span, Refused):
        return span
    assert bench.logs is not None
    held = {**asked.labels, **bench.log_matchers}
    having = f" |= {quote(asked.contains)}" if asked.contains else ""
    query = f"{selector(None, held)}{having}"
    question = Question(tool=bench.logs.name, queries={"logs": query}, window=span)
    return Wanted(asked=query, start_at=span.start_at, end_at=span.end_at, question=question)


async def tell(wanted: Wanted, bench: Bench) -> Told:
    """Give the newest lines."""
    assert bench.logs is not None
    return await lines.told(wanted, bench.logs)


TOOL = Tool(
    name=ToolName.LOGS,
    arguments=Asked,
    offered=lambda bench: bench.logs is not None,
    want=want,
    tell=tell,
)
