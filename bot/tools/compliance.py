"""Compliance facts: what a scan left in a file, read anew at every question."""

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import yaml
from pydantic import BaseModel, BeforeValidator, TypeAdapter, ValidationError

from engine.model.evidence import Answered, Empty, Gap, GapCause, Outcome, Question
from engine.ports import Clock

MAX_BYTES = 8_000_000


class Fact(BaseModel):
    """One line of a scan."""

    subject: str
    """A host, a workload, an account."""
    control: str
    status: str
    detail: str = ""
    at: Annotated[str, BeforeValidator(str)] = ""
    """When it was scanned, as the scan says."""

    @property
    def line(self) -> str:
        """It on one line."""
        told = f"{self.subject}: {self.control} is {self.status}"
        return " ".join(filter(None, [self.at, told, self.detail]))


_FACTS = TypeAdapter(list[Fact])


class ComplianceFile:
    """Answers from a YAML or JSON list of facts; a file that cannot be read is a gap."""

    name = "compliance"

    def __init__(self, path: Path, clock: Clock) -> None:
        self._path = path
        self._clock = clock

    async def ask(self, question: Question) -> Outcome:
        """Give every fact whose subject or control holds the words asked about."""
        facts = await self.facts()
        if isinstance(facts, Gap):
            return facts
        now = self._clock.now()
        lines = tuple(_about(facts, question.queries["about"].casefold()))
        return Answered(evaluated_at=now, lines=lines) if lines else Empty(evaluated_at=now)

    async def facts(self) -> Sequence[Fact] | Gap:
        """Give every fact there is."""
        return await asyncio.to_thread(_read, self._path)


def _read(path: Path) -> list[Fact] | Gap:
    try:
        if path.stat().st_size > MAX_BYTES:
            return Gap(cause=GapCause.TOO_LARGE, detail=f"over {MAX_BYTES} bytes")
        return _FACTS.validate_python(yaml.safe_load(path.read_text("utf-8")))
    except OSError as error:
        return Gap(cause=GapCause.UNREACHABLE, detail=type(error).__name__)
    except (yaml.YAMLError, UnicodeDecodeError, ValidationError):
        return Gap(cause=GapCause.GARBLED, detail="not a list of facts")


def _about(facts: Sequence[Fact], part: str) -> Iterator[str]:
    return (
        fact.line
        for fact in facts
        if part in fact.subject.casefold() or part in fact.control.casefold()
    )
