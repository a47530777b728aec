"""The explicit "now" and "where" of an incident."""

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from functools import reduce

from engine.identity import environment_of, host_of, service_of
from engine.model.alert import Alert
from engine.model.incident import Incident, MemberState
from engine.model.pack import Anchor
from engine.model.policy import CorrelationRule
from engine.onset import Onset
from engine.pack.scope import Scope
from engine.ports import RuleInfo

_LONGEST_SUMMARY = 300


def fired_at(incident: Incident) -> datetime:
    """Earliest start of a firing member, none later than its arrival."""
    members = incident.firing or incident.members
    return min(min(m.alert.starts_at, m.joined_at) for m in members)


def turned_true_at(
    told: datetime | None, rule: RuleInfo | None, fired: datetime
) -> datetime | None:
    """When the rule's condition became true: as told, else firing less the rule's wait."""
    if told is not None:
        return min(told, fired)
    return None if rule is None else fired - timedelta(seconds=rule.for_s)


def shared_scope(incident: Incident) -> Mapping[str, str]:
    """Give the scope labels every firing member carries with one value."""
    held = [(m.state is MemberState.FIRING, dict(g.scope)) for m, g in incident.seated()]
    scopes = [scope for fires, scope in held if fires] or [scope for _, scope in held]
    return reduce(lambda one, other: {n: v for n, v in one.items() if other.get(n) == v}, scopes)


def metric_scope(incident: Incident) -> Scope:
    """Give the scope metrics are looked up by: that of the member the card is named after."""
    lead = incident.lead
    return Scope.of_alert(lead.alert, incident.group_of(lead).scope)


def anchor_of(
    incident: Incident,
    began: Onset,
    *,
    active_at: datetime | None,
    expression: str | None,
    correlation: CorrelationRule,
    clean: Callable[[str], str],
    taken_at: datetime,
) -> Anchor:
    """Put the anchor together."""
    lead = incident.lead
    fired = fired_at(incident)
    return Anchor(
        incident_id=incident.id,
        client_id=incident.client_id,
        rule=lead.alert.rule,
        severity=incident.severity,
        alert_class=incident.alert_class,
        summary=clean(_summary(lead.alert))[:_LONGEST_SUMMARY],
        environment=environment_of(lead.alert),
        service=service_of(lead.alert),
        host=host_of(lead.alert, correlation),
        grouping_key=shared_scope(incident),
        fired_at=fired,
        active_at=active_at or fired,
        onset_at=began.at,
        onset_source=began.source,
        zone_assumed=any(m.alert.zone_assumed for m in incident.members),
        expression=expression,
        taken_at=taken_at,
    )


def _summary(alert: Alert) -> str:
    said = alert.annotations
    return said.get("summary") or said.get("description") or said.get("message") or ""
