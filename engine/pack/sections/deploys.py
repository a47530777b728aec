"""What was shipped: told by change sources, and read from metrics without any set-up."""

from asyncio import TaskGroup

from engine.model.change import Change
from engine.model.evidence import Answered, Gap, Outcome
from engine.model.pack import ChangeKind, SectionName
from engine.pack.changed import SHIPPED, facts, logged, nearest_first, section_of
from engine.pack.section import Case, Gathered, Items, PackSection, Ports
from engine.pack.traces import Trace, traces


async def gather(case: Case) -> Gathered:
    """List deploys, versions and restarts, nearest to onset first; those after it stay listed."""
    told = await logged(case) if case.ports.changes is not None else []
    shipped = [c for c in told if c.kind in SHIPPED or _host_less(c)]
    read, gap = await _from_metrics(case)
    changes = nearest_first(facts(c, case.anchor) for c in [*shipped, *read])
    return await section_of(SectionName.DEPLOYS, Items("D", case), changes, case, gap)


def _host_less(change: Change) -> bool:
    return change.host is None and change.kind is not ChangeKind.CLOUD


async def _from_metrics(case: Case) -> tuple[list[Change], Gap | None]:
    """Ask every trace that the scope's metrics may have left."""
    if case.ports.metrics is None or case.survey.gap is not None:
        return [], case.survey.gap
    asked = traces(case.survey.metric_names, case.survey.scope)
    async with TaskGroup() as group:
        tasks = [(trace, group.create_task(case.ask_over_window(trace.query))) for trace in asked]
    outcomes: list[tuple[Trace, Outcome]] = [(trace, task.result()) for trace, task in tasks]
    gap = next((outcome for _, outcome in outcomes if isinstance(outcome, Gap)), None)
    read = [
        change
        for trace, outcome in outcomes
        if isinstance(outcome, Answered)
        for change in trace.read(outcome.results["value"], case.survey.scope)
    ]
    return read, gap


def _configured(ports: Ports) -> bool:
    return ports.changes is not None or ports.metrics is not None


SECTION = PackSection(name=SectionName.DEPLOYS, configured=_configured, gather=gather)
