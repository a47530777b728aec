"""What a payload would look like as a card: no account, no database, nothing sent."""

from datetime import datetime, timedelta

from bot.sources.source import Parsed, UnreadableError
from bot.sources.table import SOURCES
from cards.card import Card
from cards.draw import card
from cards.render import markdown, slack, telegram, terminal
from engine.classify import classify
from engine.identity import environment_of, family, host_of, service_of
from engine.model.alert import Alert
from engine.model.base import canonical_json, digest
from engine.model.incident import (
    AlertGroup,
    Incident,
    IncidentState,
    JoinReason,
    Member,
    MemberState,
)
from engine.model.org import Client
from engine.model.pack import (
    AlertFacts,
    Anchor,
    CanWait,
    Impact,
    ImpactReason,
    Item,
    OnsetSource,
    Pack,
    Section,
    SectionName,
    SectionStatus,
)
from engine.model.policy import CorrelationRule
from engine.model.run import CaseFile

SURFACES = ("slack", "telegram", "terminal", "markdown")
CLIENT = Client(id="default")
RULE = CorrelationRule()


def run_card(to: str, body: bytes, now: datetime, *, source: str = "alertmanager") -> str:
    """Draw the facts card of a payload for one surface.

    Raises:
        UnreadableError: the surface is unknown, or nothing of the body is an alert.
    """
    parsed = SOURCES[source].parse(body, now)
    if not parsed.alerts:
        raise UnreadableError("Nothing in the body could be read as an alert.")
    return drawn(to, card(case_of(parsed, now), now))


def drawn(to: str, made: Card) -> str:
    """A card in the markup of a surface."""
    match to:
        case "slack":
            return canonical_json(slack.render(made).model_dump(mode="json"))
        case "telegram":
            return telegram.render(made).text
        case "terminal":
            return terminal.text(made)
        case "markdown":
            return markdown.render(made)
        case _:
            raise UnreadableError(f"No surface {to!r}: choose one of {', '.join(SURFACES)}.")


def case_of(parsed: Parsed, now: datetime) -> CaseFile:
    """The alerts of one body as one incident, with a pack of nothing but them."""
    incident = _incident(parsed, now)
    return CaseFile(client=CLIENT, incident=incident, pack=_pack(incident, now))


def _incident(parsed: Parsed, now: datetime) -> Incident:
    groups = {family(CLIENT.id, alert, RULE).key: alert for alert in reversed(parsed.alerts)}
    ids = {key: f"g{place}" for place, key in enumerate(groups, start=1)}
    made = tuple(_group(key, ids[key], alert) for key, alert in groups.items())
    members = tuple(
        _member(alert, ids[family(CLIENT.id, alert, RULE).key], now) for alert in parsed.alerts
    )
    fires = any(member.state is MemberState.FIRING for member in members)
    ended = [alert.ends_at for alert in parsed.alerts if alert.ends_at is not None]
    return Incident(
        id="try",
        client_id=CLIENT.id,
        number=0,
        state=IncidentState.OPEN if fires else IncidentState.RESOLVED,
        severity=max((alert.severity for alert in parsed.alerts), key=lambda s: s.rank),
        alert_class=classify(parsed.alerts[0], None),
        opened_at=now,
        activity_at=now,
        settle_at=now + timedelta(seconds=RULE.settle_s),
        window_until=now + timedelta(seconds=RULE.window_s),
        groups=made,
        members=members,
        resolved_at=None if fires else max(ended, default=now),
        truncated=parsed.truncated,
    )


def _group(key: str, number: str, alert: Alert) -> AlertGroup:
    return AlertGroup(
        id=number,
        client_id=CLIENT.id,
        family_key=digest(key, 16),
        rule=alert.rule,
        scope=family(CLIENT.id, alert, RULE).scope,
        alert_class=classify(alert, None),
    )


def _member(alert: Alert, group: str, now: datetime) -> Member:
    return Member(
        alert=alert,
        group_id=group,
        state=MemberState.FIRING if alert.firing_at(now) else MemberState.RESOLVED,
        joined_at=now,
        last_seen_at=now,
        reason=JoinReason.OPENED,
    )


def _pack(incident: Incident, now: datetime) -> Pack:
    """Alerts and runbook were looked at, and nothing else was."""
    known = {
        SectionName.ALERTS: Section(
            name=SectionName.ALERTS, status=SectionStatus.OK, items=(_item(incident),)
        ),
        SectionName.RUNBOOK: Section(name=SectionName.RUNBOOK, status=SectionStatus.EMPTY),
    }
    sections = (
        known.get(name, Section(name=name, status=SectionStatus.NOT_CONFIGURED))
        for name in SectionName
    )
    impact = Impact(can_wait=CanWait.UNKNOWN, reason=ImpactReason.NOT_MEASURED)
    return Pack(anchor=_anchor(incident, now), sections=tuple(sections), impact=impact)


def _item(incident: Incident) -> Item:
    lead = incident.lead.alert
    facts = AlertFacts(
        rule=lead.rule,
        severity=lead.severity,
        alert_class=incident.alert_class,
        labels=lead.labels,
        count=len(incident.members),
        firing=len(incident.firing),
        starts_at=lead.starts_at,
    )
    return Item(id="A1", text=lead.rule, facts=facts)


def _anchor(incident: Incident, now: datetime) -> Anchor:
    lead = incident.lead.alert
    fired_at = min(*(member.alert.starts_at for member in incident.members), now)
    scopes = [group.scope for group in incident.groups]
    shared = {k: v for k, v in scopes[0].items() if all(scope.get(k) == v for scope in scopes)}
    return Anchor(
        incident_id=incident.id,
        client_id=CLIENT.id,
        rule=lead.rule,
        severity=incident.severity,
        alert_class=incident.alert_class,
        summary=lead.annotations.get("summary", ""),
        environment=environment_of(lead),
        service=service_of(lead),
        host=host_of(lead, RULE),
        grouping_key=shared,
        fired_at=fired_at,
        active_at=fired_at,
        onset_at=fired_at,
        onset_source=OnsetSource.FIRED,
        zone_assumed=lead.zone_assumed,
        taken_at=now,
    )
