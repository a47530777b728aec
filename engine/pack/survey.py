"""Before any section looks: when it began, and which metrics the failing scope has."""

from asyncio import TaskGroup
from collections.abc import Coroutine, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple, TypeVar

from engine.model.evidence import Answered, Gap, GapCause, Question, Series, Window
from engine.model.incident import Incident
from engine.model.pack import Anchor
from engine.onset import Onset, onset
from engine.pack.anchor import anchor_of, fired_at, metric_scope, turned_true_at
from engine.pack.own import linked_expression, of_alert, rule_of
from engine.pack.scope import Scope
from engine.pack.section import Ports, Subject, Survey
from engine.promql.threshold import comparison_stripped

_STEPS = 240
"""Points a window is looked at through."""
_LEAST_STEP_S = 5.0
_SHARE = 0.7
"""Share of one section's time that the survey before it may take."""
_LOOK_AHEAD = 3
"""Steps after firing that may still show that the series stayed away."""

_TOO_LATE = Gap(cause=GapCause.TIMED_OUT)
_Known = TypeVar("_Known")


class _Timing(NamedTuple):
    """What the rules and the alert's own expression said."""

    expression: str | None = None
    own: str | None = None
    lines: tuple[Series, ...] = ()
    active_at: datetime | None = None


class _Found(NamedTuple):
    """Which metrics carry the scope's labels, and which form of the scope that was."""

    scope: Scope
    names: tuple[str, ...] = ()
    gap: Gap | None = None


def blind(subject: Subject, ports: Ports) -> Survey:
    """Say what is known without asking anyone: onset is taken to be firing."""
    now = ports.clock.now()
    fired = fired_at(subject.incident)
    scope = metric_scope(subject.incident)
    return _survey(subject, ports, _Timing(), _Found(scope), _window(subject, fired, now))


async def survey(subject: Subject, ports: Ports) -> Survey:
    """Ask the rules, the alert's own expression and the metrics' names, each in its share.

    What does not come in time is missing: onset stays what it was, the metrics are a gap.
    """
    now = ports.clock.now()
    async with TaskGroup() as group:
        timing = group.create_task(
            _in_time(_timing(subject, ports, now), _Timing(), subject, ports)
        )
        late = _Found(metric_scope(subject.incident), gap=_TOO_LATE)
        found = group.create_task(
            _in_time(_discover(subject.incident, ports, now), late, subject, ports)
        )
    known = timing.result()
    start_at = min(known.active_at or now, fired_at(subject.incident))
    window = _window(subject, start_at, now)
    return _survey(subject, ports, known, found.result(), window)


async def _in_time(
    asked: Coroutine[None, None, _Known], otherwise: _Known, subject: Subject, ports: Ports
) -> _Known:
    try:
        async with ports.clock.timeout(subject.pack.section_timeout_s * _SHARE):
            return await asked
    except TimeoutError:
        return otherwise


def _survey(
    subject: Subject, ports: Ports, timing: _Timing, found: _Found, window: Window
) -> Survey:
    began = _began(subject.incident, timing, window)
    return Survey(
        anchor=_anchor(subject, ports, timing, began, window.end_at),
        scope=found.scope,
        own_expression=timing.own,
        own_series=timing.lines,
        metric_names=found.names,
        gap=found.gap,
        window=window,
    )


def _anchor(
    subject: Subject, ports: Ports, timing: _Timing, began: Onset, taken_at: datetime
) -> Anchor:
    return anchor_of(
        subject.incident,
        began,
        active_at=timing.active_at,
        expression=timing.expression,
        correlation=subject.correlation,
        clean=ports.clean,
        taken_at=taken_at,
    )


def _began(incident: Incident, timing: _Timing, window: Window) -> Onset:
    """Take the earliest onset that any of the alert's own series shows."""
    fired = fired_at(incident)
    until_s = fired.timestamp() + _LOOK_AHEAD * window.step_s
    lines = [[p for p in series.points if p[0] <= until_s] for series in timing.lines] or [[]]
    begun = [onset(points, active_at=timing.active_at, fired_at=fired) for points in lines]
    return min(begun, key=lambda began: began.at)


def _window(subject: Subject, start_at: datetime, now: datetime) -> Window:
    """Span from well before the start until now, its last point exactly now."""
    length_s = (now - start_at).total_seconds() + subject.pack.window_before_s
    step_s = max(_LEAST_STEP_S, float(-(-length_s // _STEPS)))
    steps = int(length_s // step_s)
    return Window(start_at=now - timedelta(seconds=steps * step_s), end_at=now, step_s=step_s)


async def _timing(subject: Subject, ports: Ports, now: datetime) -> _Timing:
    lead = subject.incident.lead.alert
    rule = told = None
    if ports.rules is not None:
        async with TaskGroup() as group:
            rules = group.create_task(ports.rules.rules())
            active = group.create_task(ports.rules.active_at(lead))
        rule, told = rule_of(lead, rules.result()), active.result()
    active_at = turned_true_at(told, rule, fired_at(subject.incident))
    expression = rule.expression if rule is not None else linked_expression(lead)
    own = comparison_stripped(expression) if expression else None
    lines: Sequence[Series] = ()
    if own and ports.metrics is not None:
        start_at = min(active_at or now, fired_at(subject.incident))
        window = _window(subject, start_at, now)
        asked = Question(tool=ports.metrics.name, queries={"own": own}, window=window)
        outcome = await ports.metrics.ask(asked)
        lines = outcome.results["own"] if isinstance(outcome, Answered) else ()
    return _Timing(expression, own, of_alert(lines, lead), active_at)


async def _discover(incident: Incident, ports: Ports, now: datetime) -> _Found:
    """Count metrics by name on the scope, widening it until something answers."""
    scope = metric_scope(incident)
    if ports.metrics is None or not scope.labels:
        return _Found(scope)
    for step in scope.ladder():
        query = f"count by (__name__) ({step.own()})"
        asked = Question(tool=ports.metrics.name, queries={"names": query}, at=now)
        outcome = await ports.metrics.ask(asked)
        if isinstance(outcome, Gap):
            return _Found(scope, gap=outcome)
        if isinstance(outcome, Answered):
            lines = outcome.results["names"]
            names = {s.labels.get("__name__", "") for s in lines} - {"", "ALERTS"}
            if names - {"ALERTS_FOR_STATE"}:
                return _Found(step, tuple(sorted(names)))
    return _Found(scope)
