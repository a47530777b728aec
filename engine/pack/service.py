"""What the failing scope serves: traffic, failures, latency, error budget."""

import re
from asyncio import TaskGroup
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import NamedTuple

from engine.model.base import Frozen
from engine.model.evidence import Answered, Gap, Outcome
from engine.pack.families import (
    STATUS_LABELS,
    error_matcher,
    latency_metric,
    quantile,
    rate,
    requests_metric,
)
from engine.pack.scope import Scope
from engine.pack.section import Case
from engine.pack.spans import rate_span

_BURN = re.compile(r"burn_?rate")


class Service(Frozen):
    """Figures of now and of before onset; None where it is not measured."""

    traffic: float | None = None
    """Requests per second."""
    traffic_before: float | None = None
    error_share: float | None = None
    p95: float | None = None
    p95_before: float | None = None
    burn: float | None = None
    """Times the error budget is spent faster than it may be."""


class _Figures(NamedTuple):
    values: Mapping[str, float]
    gap: Gap | None


async def measure(case: Case) -> tuple[Service, Gap | None]:
    """Ask for every figure at once; the first gap is kept, whatever else was answered."""
    names, scope, over = (
        case.survey.metric_names,
        case.survey.scope,
        rate_span(case.anchor.expression),
    )
    served, timed = requests_metric(names), latency_metric(names)
    burn = next((name for name in names if _BURN.search(name)), None)
    before = case.anchor.onset_at - timedelta(seconds=case.subject.pack.baseline_s / 2)
    asked: dict[str, tuple[str, datetime | None]] = {}
    if served:
        asked["traffic"] = (rate(served, scope, over), None)
        asked["traffic_before"] = (rate(served, scope, over), before)
    if timed:
        asked["p95"] = (quantile(timed, scope, over), None)
        asked["p95_before"] = (quantile(timed, scope, over), before)
    if burn:
        asked["burn"] = (f"max {scope.by} ({scope.peers(burn)})", None)
    figures = await _ask(asked, case)
    failing, gap = await _failing(served, over, case) if served else (None, None)
    return _service(figures.values, failing), figures.gap or gap


async def _ask(asked: Mapping[str, tuple[str, datetime | None]], case: Case) -> _Figures:
    async with TaskGroup() as group:
        tasks = {n: group.create_task(case.ask(q, at=at)) for n, (q, at) in asked.items()}
    outcomes = {name: task.result() for name, task in tasks.items()}
    found = {name: _own(outcome, case.survey.scope) for name, outcome in outcomes.items()}
    gap = next((o for o in outcomes.values() if isinstance(o, Gap)), None)
    return _Figures({n: value for n, value in found.items() if value is not None}, gap)


async def _failing(served: str, over: str, case: Case) -> tuple[float | None, Gap | None]:
    """Give failures per second; None where no label says how a request ended."""
    scope = case.survey.scope
    labels = await case.ask(f"count by ({', '.join(STATUS_LABELS)}) ({scope.own(served)})")
    if not isinstance(labels, Answered):
        return None, labels if isinstance(labels, Gap) else None
    matcher = error_matcher(series.labels for series in labels.results["value"])
    if matcher is None:
        return None, None
    outcome = await case.ask(rate(served, scope, over, matcher))
    if isinstance(outcome, Gap):
        return None, outcome
    return _own(outcome, scope) or 0.0, None


def _own(outcome: Outcome, scope: Scope) -> float | None:
    if not isinstance(outcome, Answered):
        return None
    return next((s.last for s in outcome.results["value"] if scope.is_own(s.labels)), None)


def _service(figures: Mapping[str, float], failing: float | None) -> Service:
    traffic = figures.get("traffic")
    share = min(failing / traffic, 1.0) if failing is not None and traffic else None
    return Service(error_share=share, **figures)
