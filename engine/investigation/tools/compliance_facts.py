"""What the last compliance scan said of a host, a workload or a control."""

from pydantic import Field

from engine.fence import LABEL_CHARACTERS
from engine.investigation.tool import Arguments, Bench, Refused, Told, Tool, Wanted
from engine.investigation.tools import lines
from engine.model.evidence import Question
from engine.model.ledger import ToolName


class Asked(Arguments):
    """Of what."""

    about: str = Field(
        description="A host, workload or control, or a part of its name.",
        min_length=2,
        max_length=LABEL_CHARACTERS,
    )


async def want(asked: Asked, bench: Bench) -> Wanted | Refused:
    """Take the name."""
    assert bench.compliance is not None
    now = bench.reach.clock.now()
    question = Question(tool=bench.compliance.name, queries={"about": asked.about}, at=now)
    return Wanted(asked=asked.about, start_at=now, end_at=now, question=question)


async def tell(wanted: Wanted, bench: Bench) -> Told:
    """Give the facts."""
    assert bench.compliance is not None
    return await lines.told(wanted, bench.compliance)


TOOL = Tool(
    name=ToolName.COMPLIANCE_FACTS,
    arguments=Asked,
    offered=lambda bench: bench.compliance is not None,
    want=want,
    tell=tell,
)
