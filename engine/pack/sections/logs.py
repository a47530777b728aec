"""What the failing scope wrote around onset: lines that tell of a failure, else the newest."""

from asyncio import TaskGroup
from collections.abc import Mapping, Sequence

from engine.log_queries import log_query
from engine.model.base import Frozen
from engine.model.evidence import Answered, Empty, Gap, Outcome, Question
from engine.model.pack import SectionName, TextFacts
from engine.pack.lines import alike, gap_of, newest_kind_first, told, window_of
from engine.pack.scope import pods_of
from engine.pack.section import Case, Gathered, Items, PackSection, Ports, SectionNote

MOST_QUERIES = 4
"""Ways of naming the writer, asked at once; a log store is slower than metrics."""
_MOST_PLAIN = 3
"""Lines told where none tells of a failure."""


class Writer(Frozen):
    """Who wrote the lines, in labels a log store may know."""

    labels: Mapping[str, str]
    pods: str = ""
    """Pattern of pod names."""


async def gather(case: Case) -> Gathered:
    """Ask for what tells of a failure; where nothing does, for anything at all."""
    items = Items("L", case)
    known = writers(case)
    if not known:
        return items.section(SectionName.LOGS, note=SectionNote.NO_SCOPE)
    failing = await _lines(known, case, failures=True)
    if isinstance(failing, Answered):
        return _section(items, failing, case)
    plain = failing if isinstance(failing, Gap) else await _lines(known, case, failures=False)
    if isinstance(plain, Answered):
        return _section(items, plain, case, most=_MOST_PLAIN)
    return items.section(SectionName.LOGS, gap=gap_of(plain))


def writers(case: Case) -> list[Writer]:
    """Name the writer in the few ways log collectors do, the surest first."""
    lead = case.incident.lead
    labels, scope = lead.alert.labels, case.incident.group_of(lead).scope
    where = {"namespace": scope["namespace"]} if "namespace" in scope else {}
    found = [Writer(labels={**where, "pod": labels["pod"]})] if labels.get("pod") else []
    name = scope.get("service") or scope.get("workload")
    if name:
        found += [
            Writer(labels=where, pods=pods_of(name)),
            Writer(labels={**where, "app": name}),
            Writer(labels={"service_name": name}),
            Writer(labels={**where, "service": name}),
        ]
    elif case.anchor.host and not found:
        found += [Writer(labels={n: case.anchor.host}) for n in ("host", "hostname", "node_name")]
    elif where and not found:
        found = [Writer(labels=where)]
    return found[:MOST_QUERIES]


async def _lines(known: Sequence[Writer], case: Case, *, failures: bool) -> Outcome:
    """Ask for every writer at once; the first that has lines is the one meant."""
    async with TaskGroup() as group:
        tasks = [group.create_task(_ask(one, case, failures=failures)) for one in known]
    outcomes = [task.result() for task in tasks]
    answered = next((one for one in outcomes if isinstance(one, Answered)), None)
    gap = next(filter(None, map(gap_of, outcomes)), None)
    return answered or gap or Empty(evaluated_at=case.survey.window.end_at)


async def _ask(writer: Writer, case: Case, *, failures: bool) -> Outcome:
    logs = case.ports.logs
    assert logs is not None, "the section is not gathered without"
    query = log_query(writer.labels, case.ports.log_matchers, pods=writer.pods, failures=failures)
    return await logs.ask(Question(tool=logs.name, queries={"logs": query}, window=window_of(case)))


def _section(items: Items, answer: Answered, case: Case, most: int | None = None) -> Gathered:
    found = newest_kind_first(alike(answer.lines), case.anchor.onset_at)
    for one in found[:most]:
        items.add(told(one, case), TextFacts(untrusted=True))
    items.leave_out(len(found[most:]) if most else 0)
    return items.section(SectionName.LOGS)


def _configured(ports: Ports) -> bool:
    return ports.logs is not None


SECTION = PackSection(name=SectionName.LOGS, configured=_configured, gather=gather)
