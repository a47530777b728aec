"""The pack, put together: every section at once, each bounded, none able to hold up the rest."""

from asyncio import TaskGroup
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Final

from engine.model.chart import Curve
from engine.model.evidence import GapCause
from engine.model.pack import (
    CanWait,
    Impact,
    ImpactReason,
    Pack,
    Section,
    SectionName,
    SectionStatus,
)
from engine.pack.section import Case, Gathered, PackSection, Ports, Subject, Survey
from engine.pack.sections import (
    alerts,
    changes,
    cloud,
    deploys,
    history,
    impact,
    kubernetes,
    logs,
    metrics,
    priors,
    runbook,
    zabbix,
)
from engine.pack.survey import blind, survey
from engine.pack.suspects import common_labels, rank

SECTIONS: Final[Sequence[PackSection]] = (
    alerts.SECTION,
    history.SECTION,
    metrics.SECTION,
    impact.SECTION,
    logs.SECTION,
    changes.SECTION,
    deploys.SECTION,
    cloud.SECTION,
    kubernetes.SECTION,
    zabbix.SECTION,
    runbook.SECTION,
    priors.SECTION,
)
_NOT_MEASURED = Impact(can_wait=CanWait.UNKNOWN, reason=ImpactReason.NOT_MEASURED)
_SELF_CLEARED = Impact(can_wait=CanWait.YES, reason=ImpactReason.SELF_CLEARED)


class PackBuilder:
    """Builds one pack; a partial one can be taken at any time while sections go on.

    A section without a file here, or without the backend it needs, is `not_configured`.
    """

    def __init__(
        self,
        subject: Subject,
        ports: Ports,
        on_section: Callable[[Section], None] | None = None,
        sections: Sequence[PackSection] = SECTIONS,
    ) -> None:
        self._subject = subject
        self._ports = ports
        self._on_section = on_section
        self._sections = sections
        self._survey = blind(subject, ports)
        self._ended: dict[SectionName, Gathered] = {}
        self._until_s = ports.clock.monotonic() + subject.pack.timeout_s

    def partial(self) -> Pack:
        """Freeze what is known now; sections still being looked at are absent."""
        return self._freeze(self._ports.clock.now())

    @property
    def curve(self) -> Curve | None:
        """What a chart would show, once the section that has the series has ended."""
        curves = [gathered.curve for gathered in self._ended.values()]
        return next((curve for curve in curves if curve is not None), None)

    async def finish(self) -> Pack:
        """Wait for every section, or for its time to run out, and freeze the pack."""
        present = {section.name for section in self._sections if section.configured(self._ports)}
        for name in SectionName:
            if name not in present:
                self._end(_bare(name, SectionStatus.NOT_CONFIGURED))
        async with TaskGroup() as group:
            for section in self._sections:
                if section.name in present and not section.anchored:
                    group.create_task(self._run(section, self._survey))
            self._survey = await survey(self._subject, self._ports)
            for section in self._sections:
                if section.name in present and section.anchored:
                    group.create_task(self._run(section, self._survey))
        return self._freeze(self._ports.clock.now())

    async def _run(self, section: PackSection, known: Survey) -> None:
        clock = self._ports.clock
        left_s = min(self._subject.pack.section_timeout_s, self._until_s - clock.monotonic())
        case = Case(self._subject, known, self._ports)
        try:
            async with clock.timeout(max(left_s, 0)):
                self._end(await section.gather(case))
        except TimeoutError:
            self._end(_bare(section.name, SectionStatus.DEGRADED, GapCause.TIMED_OUT))

    def _end(self, gathered: Gathered) -> None:
        self._ended[gathered.section.name] = gathered
        if self._on_section is not None:
            self._on_section(gathered.section)

    def _freeze(self, now: datetime) -> Pack:
        anchor = self._survey.anchor.model_copy(update={"taken_at": now})
        fires = bool(self._subject.incident.firing)
        ended = [self._ended[name] for name in SectionName if name in self._ended]
        sections = tuple(gathered.section for gathered in ended)
        measured = [gathered.impact for gathered in ended if gathered.impact is not None]
        return Pack(
            anchor=anchor,
            sections=sections,
            impact=next(iter(measured), _NOT_MEASURED if fires else _SELF_CLEARED),
            suspects=rank(
                anchor,
                sections,
                common=common_labels(self._subject.incident),
                floor=self._subject.pack.suspect_floor,
            ),
        )


async def build(
    subject: Subject, ports: Ports, on_section: Callable[[Section], None] | None = None
) -> Pack:
    """Build a whole pack."""
    return await PackBuilder(subject, ports, on_section).finish()


def _bare(name: SectionName, status: SectionStatus, cause: GapCause | None = None) -> Gathered:
    return Gathered(section=Section(name=name, status=status, cause=cause))
