"""Metrics of the failing scope as digests, each beside its peers."""

from asyncio import TaskGroup
from typing import NamedTuple

from engine.model.evidence import Answered, Gap, Outcome
from engine.model.pack import MetricDigest, SectionName
from engine.pack.digests import digests, order, own_digest, said
from engine.pack.families import Probe, probes
from engine.pack.section import Case, Gathered, Items, PackSection, Ports, SectionNote
from engine.pack.spans import rate_span

_OWN_LINES = 3
"""Series of the alert's own expression that are shown."""


class _Look(NamedTuple):
    """A probe and what came of it."""

    probe: Probe
    outcome: Outcome
    limit: Outcome | None


async def gather(case: Case) -> Gathered:
    """Digest the alert's own expression first, then the scope's metrics by deviation."""
    items = Items("M", case)
    for digest in _own(case)[:_OWN_LINES]:
        items.add(said(digest), _cleaned(digest, case))
    if case.survey.gap is not None:
        return items.section(SectionName.METRICS, gap=case.survey.gap)
    looks = await _looks(case)
    found = [(look.probe, digest) for look in looks for digest in _digests(look, case)]
    for probe, digest in sorted(found, key=lambda pair: order(pair[1])):
        items.add(said(digest, probe.limit_name), _cleaned(digest, case))
    items.leave_out(sum(o.truncated for _, o, _ in looks if isinstance(o, Answered)))
    gap = next((look.outcome for look in looks if isinstance(look.outcome, Gap)), None)
    note = SectionNote.PARTLY if gap and found else ""
    return items.section(SectionName.METRICS, gap=gap, note=note)


def _own(case: Case) -> list[MetricDigest]:
    survey = case.survey
    found = [
        own_digest(series, survey.own_expression or "", case.anchor, case.subject.pack.baseline_s)
        for series in survey.own_series
    ]
    return sorted(found, key=order)


def _cleaned(digest: MetricDigest, case: Case) -> MetricDigest:
    return digest.model_copy(update={"labels": case.ports.cleaned(digest.labels)})


async def _looks(case: Case) -> list[_Look]:
    survey = case.survey
    asked = probes(survey.metric_names, survey.scope, rate_span(case.anchor.expression))
    async with TaskGroup() as group:
        tasks = [group.create_task(_look(probe, case)) for probe in asked]
    return [task.result() for task in tasks]


async def _look(probe: Probe, case: Case) -> _Look:
    if probe.limit is None:
        return _Look(probe, await case.ask_over_window(probe.query), None)
    async with TaskGroup() as group:
        used = group.create_task(case.ask_over_window(probe.query))
        limit = group.create_task(case.ask(probe.limit))
    return _Look(probe, used.result(), limit.result())


def _digests(look: _Look, case: Case) -> list[MetricDigest]:
    if not isinstance(look.outcome, Answered):
        return []
    rule = case.subject.pack
    found = digests(
        look.probe,
        look.outcome,
        look.limit,
        scope=case.survey.scope,
        anchor=case.anchor,
        baseline_s=rule.baseline_s,
    )
    return found[: rule.max_series]


def _configured(ports: Ports) -> bool:
    return ports.metrics is not None


SECTION = PackSection(name=SectionName.METRICS, configured=_configured, gather=gather)
