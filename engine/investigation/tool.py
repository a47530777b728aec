"""What a tool is: one file that reads a model's arguments, asks one backend and digests it."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from pydantic import AwareDatetime, BaseModel, ConfigDict, ValidationError

from engine.investigation.prompts import prompt
from engine.model.base import Frozen
from engine.model.evidence import QueryOutcome, Question
from engine.model.ledger import ToolName
from engine.model.llm import ToolSpec
from engine.ports import EvidenceTool
from engine.verification.kind import Reach, Subject

LONGEST_ARGUMENTS = 8_000
"""Characters; more is read by nobody."""


class Arguments(BaseModel):
    """What a model gives a tool: known fields of the right type, or it is told so."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Refused(Frozen):
    """A call that is not made, and why, in words its author can act on."""

    why: str


class Wanted(Frozen):
    """A question as it will be put."""

    asked: str
    """An expression, or words; what a repeated question is known by."""
    start_at: AwareDatetime
    end_at: AwareDatetime
    """The same instant twice where one is asked about."""
    question: Question | None = None
    """For a backend; None where our own records answer."""


class Told(Frozen):
    """An answer: a digest for the model, and all of it for those who come after."""

    outcome: QueryOutcome
    text: str
    longest_line: int = 600
    """Characters; each line is cut there once its secrets are out, so that none is cut in half."""
    whole: str = ""
    backend: str | None = None


@dataclass(frozen=True)
class Bench:
    """All that tools can touch; the client is bound inside. None is not configured."""

    subject: Subject
    reach: Reach
    logs: EvidenceTool | None = None
    log_matchers: Mapping[str, str] = field(default_factory=dict)
    """Labels every log line of this client carries."""
    kubernetes: EvidenceTool | None = None
    compliance: EvidenceTool | None = None


A = TypeVar("A", bound=Arguments)


def _alike(one: str, other: str) -> bool:
    return " ".join(one.split()) == " ".join(other.split())


@dataclass(frozen=True)
class Tool(Generic[A]):
    """One tool; all of them stand in one table. Its description is the prompt of its name."""

    name: ToolName
    arguments: type[A]
    offered: Callable[[Bench], bool]
    """Whether what it asks is there at all."""
    want: Callable[[A, Bench], Awaitable[Wanted | Refused]]
    """Read the arguments; asks no backend but the server's own parser."""
    tell: Callable[[Wanted, Bench], Awaitable[Told]]
    """Ask and digest; a backend's accident is an answer like any other."""
    same: Callable[[str, str], bool] = _alike
    """Whether two questions mean the same."""

    @property
    def spec(self) -> ToolSpec:
        """The tool as a model is told of it."""
        schema = _untitled(self.arguments.model_json_schema())
        schema.pop("description", None)
        return ToolSpec(
            name=self.name.value, description=prompt(f"tool_{self.name}"), input_schema=schema
        )

    async def wanted(self, arguments: str, bench: Bench) -> Wanted | Refused:
        """Read what a model gave; whatever it is, it is refused or a question."""
        if len(arguments) > LONGEST_ARGUMENTS:
            return Refused(why=f"arguments over {LONGEST_ARGUMENTS} characters")
        try:
            read = self.arguments.model_validate_json(arguments)
        except ValidationError as error:
            return Refused(why=_faults(error))
        return await self.want(read, bench)


def _faults(error: ValidationError) -> str:
    """Say which argument is wrong, without repeating what it was."""
    told = error.errors(include_url=False, include_input=False, include_context=False)
    return "; ".join(
        f"{'.'.join(map(str, one['loc']))[:80] or 'arguments'}: {one['msg'][:160]}"
        for one in told[:5]
    )


def _untitled(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out the titles, which only repeat the names."""
    told = {name: value for name, value in schema.items() if name != "title"}
    if "properties" in told:
        told["properties"] = {n: _untitled(field) for n, field in told["properties"].items()}
    return told
