"""Log lines of what carries some labels. The query is written here, never by a model."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field, StringConstraints

from engine.fence import LABEL_CHARACTERS
from engine.investigation.tool import Arguments, Bench
from engine.investigation.tools.lines import line_tool, stretch
from engine.investigation.tools.span import END, START, Moment
from engine.log_queries import log_query
from engine.model.ledger import ToolName

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


def queries(asked: Asked, bench: Bench) -> Mapping[str, str]:
    """Write the query, held to the client's own matchers whatever the model gave."""
    return {"logs": log_query(asked.labels, bench.log_matchers, contains=asked.contains)}


TOOL = line_tool(
    ToolName.LOGS, Asked, backend=lambda bench: bench.logs, queries=queries, when=stretch
)
