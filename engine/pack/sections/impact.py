"""Who is hit now, and whether it can wait; code only."""

from engine.model.alert import AlertClass
from engine.model.evidence import Gap
from engine.model.pack import CanWait, Impact, ImpactReason, SectionName
from engine.pack.figures import figure, span
from engine.pack.forecast import until_s
from engine.pack.section import Case, Gathered, Items, PackSection, Ports
from engine.pack.service import Service, measure

SOON_S = 8 * 3600.0
"""A failure further away than this can wait for the morning."""
_SHARE_THAT_HURTS = 0.01
_SLOWER = 2.0
"""Times the latency before onset from which users feel it."""
_STOPPED = 0.05
"""Share of the traffic before onset under which it counts as gone."""
_SILENT_PER_S = 0.001
_NOT_MEASURED = Impact(can_wait=CanWait.UNKNOWN, reason=ImpactReason.NOT_MEASURED)


async def gather(case: Case) -> Gathered:
    """Measure traffic, errors and latency now; for what is predicted, the time left."""
    items = Items("I", case)
    if case.anchor.alert_class is AlertClass.PREDICTIVE:
        return await _predicted(case, items)
    if case.anchor.alert_class is AlertClass.MONITORING_GAP:
        return _ended(items, _NOT_MEASURED)
    service, gap = Service(), case.survey.gap
    if gap is None:
        service, gap = await measure(case)
    for line in _lines(service):
        items.add(line)
    can_wait, reason = judge(service, fires=bool(case.incident.firing))
    impact = Impact(
        can_wait=can_wait,
        reason=reason,
        traffic_per_s=service.traffic,
        error_share=service.error_share,
        evidence_ids=items.ids,
    )
    return _ended(items, impact, gap)


def judge(service: Service, *, fires: bool) -> tuple[CanWait, ImpactReason]:
    """Say whether a person must get up, from what the service serves now."""
    if not fires:
        return CanWait.YES, ImpactReason.SELF_CLEARED
    if (service.burn or 0) > 1:
        return CanWait.NO, ImpactReason.BUDGET_BURNS
    if service.traffic is None:
        return CanWait.UNKNOWN, ImpactReason.NOT_MEASURED
    if _users_hit(service, service.traffic):
        return CanWait.NO, ImpactReason.USERS_HIT
    return _unhurt(service.traffic, service.error_share)


def _unhurt(traffic: float, error_share: float | None) -> tuple[CanWait, ImpactReason]:
    if traffic < _SILENT_PER_S:
        return CanWait.YES, ImpactReason.NO_TRAFFIC
    if error_share is None:
        return CanWait.UNKNOWN, ImpactReason.NOT_MEASURED
    return CanWait.YES, ImpactReason.NO_ERRORS


def _users_hit(service: Service, traffic: float) -> bool:
    before = service.traffic_before or 0
    if before >= _SILENT_PER_S and traffic < _STOPPED * before:
        return True
    failing = (service.error_share or 0) >= _SHARE_THAT_HURTS
    normal = service.p95_before or 0
    slower = normal > 0 and (service.p95 or 0) >= _SLOWER * normal
    return traffic >= _SILENT_PER_S and (failing or slower)


async def _predicted(case: Case, items: Items) -> Gathered:
    if case.ports.metrics is None:
        return _ended(items, _NOT_MEASURED)
    left = await until_s(case)
    if isinstance(left, Gap):
        return _ended(items, _NOT_MEASURED, left)
    if left is None:
        return _ended(items, _NOT_MEASURED)
    items.add(f"nothing is broken yet; {span(left)} left" if left > 0 else "the time is up")
    soon = left < SOON_S
    impact = Impact(
        can_wait=CanWait.NO if soon else CanWait.YES,
        reason=ImpactReason.SOON if soon else ImpactReason.TIME_LEFT,
        until_s=left,
        evidence_ids=items.ids,
    )
    return _ended(items, impact)


def _ended(items: Items, impact: Impact, gap: Gap | None = None) -> Gathered:
    gathered = items.section(SectionName.IMPACT, gap=gap)
    return gathered.model_copy(update={"impact": impact})


def _lines(service: Service) -> list[str]:
    lines = []
    if service.traffic is not None:
        before = service.traffic_before
        was = f", {figure(before, '/s')} before onset" if before is not None else ""
        lines.append(f"requests served {figure(service.traffic, '/s')}{was}")
    if service.error_share is not None:
        lines.append(f"share of requests that fail {figure(service.error_share, 'ratio')}")
    if service.p95 is not None:
        normal = service.p95_before
        was = f", {figure(normal, 's')} before onset" if normal is not None else ""
        lines.append(f"95th percentile of request time {figure(service.p95, 's')}{was}")
    if service.burn is not None:
        lines.append(f"error budget burns at {figure(service.burn)} times its rate")
    return lines


def _configured(ports: Ports) -> bool:
    return ports.metrics is not None


SECTION = PackSection(name=SectionName.IMPACT, configured=_configured, gather=gather)
