"""What the last compliance scan said of a host, a workload or a control."""

from pydantic import Field

from engine.fence import LABEL_CHARACTERS
from engine.investigation.tool import Arguments
from engine.investigation.tools.lines import line_tool
from engine.model.ledger import ToolName


class Asked(Arguments):
    """Of what."""

    about: str = Field(
        description="A host, workload or control, or a part of its name.",
        min_length=2,
        max_length=LABEL_CHARACTERS,
    )


TOOL = line_tool(
    ToolName.COMPLIANCE_FACTS,
    Asked,
    backend=lambda bench: bench.compliance,
    queries=lambda asked, _: {"about": asked.about},
    when=lambda _, bench: bench.reach.clock.now(),
)
