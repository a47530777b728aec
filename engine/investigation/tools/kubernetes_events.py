"""Events of a namespace or of one object in it."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field, StringConstraints

from engine.investigation.tool import Arguments, Bench
from engine.investigation.tools.lines import line_tool, stretch
from engine.investigation.tools.span import END, START, Moment
from engine.model.ledger import ToolName

Name = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$")]


class Asked(Arguments):
    """Where to look, and at what."""

    namespace: Name = Field(description="The namespace.")
    name: Name | None = Field(None, description="One object; without it all of the namespace.")
    start: Moment | None = START
    end: Moment | None = END


def queries(asked: Asked, bench: Bench) -> Mapping[str, str]:
    """Say the place."""
    del bench
    return {"namespace": asked.namespace} | ({"name": asked.name} if asked.name else {})


TOOL = line_tool(
    ToolName.KUBERNETES_EVENTS,
    Asked,
    backend=lambda bench: bench.kubernetes,
    queries=queries,
    when=stretch,
)
