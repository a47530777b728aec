"""Metrics of the failing scope as digests, each beside its peers."""

from asyncio import TaskGroup
from collections.abc import Sequence
from typing import NamedTuple

from engine.model.chart import Curve
from engine.model.evidence import Answered, Gap, Outcome, Series
from engine.model.pack import MetricDigest, SectionName
from engine.pack.curve import moved_curve, own_curve
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
    own = _own(case)
    curve = own_curve(own, case)
    for digest, _ in own[:_OWN_LINES]:
        items.add(said(digest), _cleaned(digest, case))
    if case.survey.gap is not None:
        return _drawn(items.section(SectionName.METRICS, gap=case.survey.gap), curve)
    looks = await _looks(case)
    found = [(look.probe, digest) for look in looks for digest in _digests(look, case)]
    for probe, digest in sorted(found, key=lambda pair: order(pair[1])):
        items.add(said(digest, probe.limit_name), _cleaned(digest, case))
    items.leave_out(sum(o.truncated for _, o, _ in looks if isinstance(o, Answered)))
    gap = next((look.outcome for look in looks if isinstance(look.outcome, Gap)), None)
    note = SectionNote.PARTLY if gap and found else ""
    ended = items.section(SectionName.METRICS, gap=gap, note=note)
    return _drawn(ended, curve or moved_curve(_beside_series(found, looks), case))


def _drawn(gathered: Gathered, curve: Curve | None) -> Gathered:
    return gathered.model_copy(update={"curve": curve})


def _own(case: Case) -> list[tuple[MetricDigest, Series]]:
    survey, baseline_s = case.survey, case.subject.pack.baseline_s
    query = survey.own_expression or ""
    found = [(own_digest(s, query, case.anchor, baseline_s), s) for s in survey.own_series]
    return sorted(found, key=lambda one: order(one[0]))


def _beside_series(
    found: Sequence[tuple[Probe, MetricDigest]], looks: Sequence[_Look]
) -> list[tuple[MetricDigest, Series]]:
    """Find the series behind digests again."""
    answers = {look.probe.query: look.outcome for look in looks}
    return [
        (digest, series)
        for probe, digest in found
        if isinstance(answer := answers[probe.query], Answered)
        for series in answer.results["value"]
        if series.labels == digest.labels
    ]


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
