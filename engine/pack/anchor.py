"""The explicit "now" and "where" of an incident."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from functools import reduce

from engine.model.alert import Alert
from engine.model.incident import Incident, Member
from engine.model.pack import Anchor
from engine.onset import Onset
from engine.pack.section import Redactor
from engine.ports import RuleInfo

_ENVIRONMENTS = ("environment", "env", "deployment_environment", "stage")
_SERVICES = (
    "service", "service_name", "app", "workload", "deployment", "statefulset", "daemonset",
    "job_name", "component", "container", "namespace", "job",
)  # fmt: skip
"""Labels that name what fails, the shortest name a person uses first."""


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


def host_of(labels: Mapping[str, str], host_labels: Sequence[str]) -> str | None:
    """Resolve the host: the first label that names one, a port cut off."""
    named = next((labels[name] for name in host_labels if labels.get(name)), None)
    if named is None:
        return None
    head, colon, port = named.rpartition(":")
    return head.strip("[]") if colon and port.isdecimal() and not head.endswith(":") else named


def shared_scope(incident: Incident) -> Mapping[str, str]:
    """Give the scope labels every firing member carries with one value.

    The values are the alert's own, since a group's may have been cleaned of ports.
    """
    members = incident.firing or incident.members
    scopes = [_scope(member, incident) for member in members]
    return reduce(lambda one, other: {n: v for n, v in one.items() if other.get(n) == v}, scopes)


def _scope(member: Member, incident: Incident) -> dict[str, str]:
    labels = member.alert.labels
    return {n: labels.get(n, v) for n, v in sorted(incident.group_of(member).scope.items())}


def anchor_of(
    incident: Incident,
    began: Onset,
    *,
    active_at: datetime | None,
    expression: str | None,
    host_labels: Sequence[str],
    redact: Redactor,
    taken_at: datetime,
) -> Anchor:
    """Put the anchor together."""
    lead = incident.lead
    labels = lead.alert.labels
    fired = fired_at(incident)
    return Anchor(
        incident_id=incident.id,
        client_id=incident.client_id,
        rule=lead.alert.rule,
        severity=incident.severity,
        alert_class=incident.alert_class,
        summary=redact(_summary(lead.alert)),
        environment=next((labels[n] for n in _ENVIRONMENTS if labels.get(n)), None),
        service=_service(lead, incident),
        host=_host(lead, incident, host_labels),
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


def _service(lead: Member, incident: Incident) -> str | None:
    scope = incident.group_of(lead).scope
    return next((scope[n] for n in _SERVICES if scope.get(n)), None)


def _host(lead: Member, incident: Incident, host_labels: Sequence[str]) -> str | None:
    """Resolve the host where the scope holds one: an exporter's address is nobody's host."""
    scope = incident.group_of(lead).scope
    failing = {n: v for n, v in lead.alert.labels.items() if n in scope}
    return host_of({**scope, **failing}, host_labels)
