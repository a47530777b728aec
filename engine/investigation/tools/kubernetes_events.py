"""Events of a namespace or of one object in it."""

from typing import Annotated

from pydantic import Field, StringConstraints

from engine.investigation.tool import Arguments, Bench, Refused, Told, Tool, Wanted
from engine.investigation.tools import lines
from engine.investigation.tools.span import END, START, Moment, window
from engine.model.evidence import Question
from engine.model.ledger import ToolName

Name = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$")]


class Asked(Arguments):
    """Where to look, and at what."""

    namespace: Name = Field(description="The namespace.")
    name: Name | None = Field(None, description="One object; without it all of the namespace.")
    start: Moment | None = START
    end: Moment | None = END


async def want(asked: Asked, bench: Bench) -> Wanted | Refused:
    """Take the place and the time."""
    span = window(asked.start, asked.end, bench)
    if isinstance(span, Refused):
        return span
    assert bench.kubernetes is not None
    queries = {"namespace": asked.namespace} | ({"name": asked.name} if asked.name else {})
    question = Question(tool=bench.kubernetes.name, queries=queries, window=span)
    words = "/".join(filter(None, [asked.namespace, asked.name]))
    return Wanted(asked=words, start_at=span.start_at, end_at=span.end_at, question=question)


async def tell(wanted: Wanted, bench: Bench) -> Told:
    """Give the newest events."""
    assert bench.kubernetes is not None
    return await lines.told(wanted, bench.kubernetes)


TOOL = Tool(
    name=ToolName.KUBERNETES_EVENTS,
    arguments=Asked,
    offered=lambda bench: bench.kubernetes is not None,
    want=want,
    tell=tell,
)
