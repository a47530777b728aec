"""A question as the engine's other parts read it: one symptom nobody measured."""

from engine.model.alert import Alert, AlertClass, AlertStatus, Severity
from engine.model.base import digest
from engine.model.incident import (
    AlertGroup,
    Incident,
    IncidentState,
    JoinReason,
    Member,
    MemberState,
)
from engine.model.inquiry import Inquiry

RULE = "question"
SOURCE = "chat"


def incident_of(inquiry: Inquiry) -> Incident:
    """The case of a question: its scope fails since its window began. It is kept nowhere."""
    alert = Alert(
        source=SOURCE,
        status=AlertStatus.FIRING,
        severity=Severity.INFO,
        labels={"alertname": RULE, **inquiry.scope},
        annotations={"summary": inquiry.text},
        starts_at=inquiry.start_at,
    )
    group = AlertGroup(
        id=digest(f"inquiry {inquiry.id}", 32),
        client_id=inquiry.client_id,
        family_key=f"inquiry:{inquiry.id}",
        rule=RULE,
        scope=dict(inquiry.scope),
        alert_class=AlertClass.SYMPTOM,
    )
    member = Member(
        alert=alert,
        group_id=group.id,
        state=MemberState.FIRING,
        joined_at=inquiry.asked_at,
        last_seen_at=inquiry.asked_at,
        reason=JoinReason.OPENED,
    )
    return Incident(
        id=inquiry.id,
        client_id=inquiry.client_id,
        number=0,
        state=IncidentState.OPEN,
        severity=Severity.INFO,
        alert_class=AlertClass.SYMPTOM,
        opened_at=inquiry.asked_at,
        activity_at=inquiry.asked_at,
        settle_at=inquiry.asked_at,
        window_until=inquiry.asked_at,
        groups=(group,),
        members=(member,),
    )
