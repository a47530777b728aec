"""What a pack section is, and what it is given to work with."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from engine.fence import strip_invisible
from engine.host_watch import HostWatch
from engine.model.base import Frozen
from engine.model.change import Change
from engine.model.chart import Curve
from engine.model.evidence import Gap, Outcome, Question, Series, Window
from engine.model.incident import Incident
from engine.model.memory import Near
from engine.model.pack import (
    Anchor,
    Facts,
    HistoryFacts,
    Impact,
    Item,
    Section,
    SectionName,
    SectionStatus,
    TextFacts,
)
from engine.model.policy import CorrelationRule, PackRule
from engine.pack.scope import Scope
from engine.ports import Clock, EvidenceTool, RuleBook

Redactor = Callable[[str], str]
"""Takes secrets out of a text and leaves names, digests and versions alone."""


_LONGEST_LINE = 600


class SectionNote(StrEnum):
    """Why a section holds less than it might; cards word it."""

    NO_HOST = "no_host"
    NO_CHANGE_SOURCE = "no_change_source"
    SENDER_TRUNCATED = "sender_truncated"
    NO_SCOPE = "no_scope"
    """The alert carries nothing its backend could be asked by."""
    PARTLY = "partly"
    """Some of its questions were not answered."""
    SHORTENED = "shortened"
    """The model does not take all of it."""


class ChangeLog(Protocol):
    """What change sources told us about one client."""

    async def between(self, start_at: datetime, end_at: datetime) -> Sequence[Change]:
        """Changes, newest first."""

    async def sources(self) -> int:
        """How many change sources ever spoke for this client."""


class Memory(Protocol):
    """What one client learned from earlier incidents."""

    async def similar(self, symptom: str, *, most: float, limit: int) -> Sequence[Near] | None:
        """Earlier cases no farther than `most`, the most alike first; None: memory is off."""


@dataclass(frozen=True)
class Ports:
    """What a pack may ask; a port that is None is not configured."""

    clock: Clock
    redact: Redactor
    metrics: EvidenceTool | None = None
    rules: RuleBook | None = None
    changes: ChangeLog | None = None
    hosts: HostWatch | None = None
    memory: Memory | None = None
    logs: EvidenceTool | None = None
    log_matchers: Mapping[str, str] = field(default_factory=dict)
    """Labels every log line of this client carries."""
    kubernetes: EvidenceTool | None = None

    def clean(self, text: str) -> str:
        """Take out what nobody can see, then what nobody may see."""
        return self.redact(strip_invisible(text))

    def cleaned(self, labels: Mapping[str, str]) -> dict[str, str]:
        """Clean the values of labels."""
        return {name: self.clean(value) for name, value in labels.items()}


class Subject(Frozen):
    """The incident a pack is about, with what only the database knows of its past."""

    incident: Incident
    history: HistoryFacts | None = None
    pack: PackRule = PackRule()
    correlation: CorrelationRule = CorrelationRule()


class Survey(Frozen):
    """What was found out before any section looks: when, where, and which metrics there are."""

    anchor: Anchor
    scope: Scope
    own_expression: str | None = None
    """The alert's expression without its threshold."""
    own_series: tuple[Series, ...] = ()
    """That expression over the window, narrowed to the alert's labels."""
    metric_names: tuple[str, ...] = ()
    """Metrics that carry the scope's labels, sorted."""
    gap: Gap | None = None
    """Set when the metrics backend could not say which metrics there are."""
    window: Window


@dataclass(frozen=True)
class Case:
    """Everything one section works with."""

    subject: Subject
    survey: Survey
    ports: Ports

    @property
    def anchor(self) -> Anchor:
        """The explicit "now" and "where"."""
        return self.survey.anchor

    @property
    def incident(self) -> Incident:
        """The incident itself."""
        return self.subject.incident

    async def ask(self, query: str, *, at: datetime | None = None) -> Outcome:
        """Ask for a query's values at one instant, the window's end unless told."""
        assert self.ports.metrics is not None, "sections that ask need metrics"
        instant = at or self.survey.window.end_at
        return await self.ports.metrics.ask(
            Question(tool=self.ports.metrics.name, queries={"value": query}, at=instant)
        )

    async def ask_over_window(self, query: str) -> Outcome:
        """Ask for a query's values over the survey's window."""
        assert self.ports.metrics is not None, "sections that ask need metrics"
        return await self.ports.metrics.ask(
            Question(
                tool=self.ports.metrics.name, queries={"value": query}, window=self.survey.window
            )
        )


class Gathered(Frozen):
    """A section that ended, and the impact where it is the one that measures it."""

    section: Section
    impact: Impact | None = None
    curve: Curve | None = None
    """What a chart of the incident would show, from the section that has the series."""


@dataclass(frozen=True)
class PackSection:
    """One kind of section: a file in `engine/pack/sections` offers one."""

    name: SectionName
    configured: Callable[[Ports], bool]
    """Whether what it needs is there at all."""
    gather: Callable[[Case], Awaitable[Gathered]]
    anchored: bool = True
    """Whether it needs onset, and so waits for the survey."""


class Items:
    """Collects a section's items: numbers them, cleans their texts and keeps to the cap."""

    def __init__(self, letter: str, case: Case) -> None:
        self._letter = letter
        self._clean = case.ports.clean
        self._most = case.subject.pack.max_items
        self._items: list[Item] = []
        self._omitted = 0

    def add(self, text: str, facts: Facts | None = None) -> None:
        """Add one line of evidence; past the cap it is only counted."""
        if len(self._items) >= self._most:
            self._omitted += 1
            return
        line = self._clean(" ".join(text.split()))[:_LONGEST_LINE]
        number = len(self._items) + 1
        facts = TextFacts() if facts is None else facts
        self._items.append(Item(id=f"{self._letter}{number}", text=line, facts=facts))

    def leave_out(self, count: int) -> None:
        """Count what a backend's own limit kept back."""
        self._omitted += count

    def section(self, name: SectionName, *, note: str = "", gap: Gap | None = None) -> Gathered:
        """End the section: degraded with what was found, ok or empty."""
        found = SectionStatus.OK if self._items else SectionStatus.EMPTY
        status = SectionStatus.DEGRADED if gap else found
        return Gathered(
            section=Section(
                name=name,
                status=status,
                items=tuple(self._items),
                omitted=self._omitted,
                cause=gap.cause if gap else None,
                note=note,
            )
        )

    @property
    def ids(self) -> tuple[str, ...]:
        """Evidence ids given so far."""
        return tuple(item.id for item in self._items)
