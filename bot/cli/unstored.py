"""Incidents of alerts that nobody keeps: grouped and joined as intake would, in memory."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import count

from engine.board import Board, Setting
from engine.classify import classify
from engine.identity import family
from engine.intake import clean, distinct
from engine.lifecycle import makes_a_card
from engine.model.alert import Alert, AlertClass
from engine.model.incident import AlertGroup, Incident
from engine.model.org import Client
from engine.model.pack import Pack
from engine.model.policy import CorrelationRule, RecurrenceRule
from engine.model.run import CaseFile
from engine.model.standing import Sighting
from engine.pack.build import build
from engine.pack.section import Ports, Subject
from engine.redact import Redactor

CLIENT = Client(id="default")


@dataclass(frozen=True)
class Unstored:
    """What a list of alerts comes to."""

    incidents: Sequence[Incident]
    """The worst first, of equals the newest first."""
    heartbeats: int
    silent: int
    """Alerts too slight for a card."""


def incidents_of(
    alerts: Iterable[Alert],
    now: datetime,
    *,
    correlation: CorrelationRule | None = None,
    expressions: Mapping[str, str] | None = None,
) -> Unstored:
    """Group and join firing alerts in the order they began, as if each had been told then.

    So what began days apart stays apart, and one failure that fell together is one incident.

    Args:
        alerts: what fires.
        now: the moment they are looked at.
        correlation: which alerts belong together.
        expressions: of alerting rules by name, where they are known.
    """
    ids = (f"{number:032x}" for number in count(1))
    rule = correlation or CorrelationRule()
    setting = Setting(CLIENT.id, now, lambda: next(ids), rule, RecurrenceRule())
    board = Board(setting)
    groups: dict[str, AlertGroup] = {}
    heartbeats = silent = 0
    for alert in distinct(clean(one) for one in alerts):
        group = _group(groups, alert, setting, expressions or {})
        if group.alert_class is AlertClass.HEARTBEAT:
            heartbeats += 1
        elif not makes_a_card(alert.severity):
            silent += 1
        else:
            board.setting = replace(setting, now=min(alert.starts_at, now))
            seen = Sighting(alert=alert, group_id=group.id, alert_class=group.alert_class)
            board.fire(seen, group)
    found = [draft.whole() for draft in board.drafts.values()]
    found.sort(key=lambda i: (i.severity.rank, i.lead.alert.starts_at), reverse=True)
    return Unstored(found, heartbeats, silent)


def _group(
    groups: dict[str, AlertGroup], alert: Alert, setting: Setting, expressions: Mapping[str, str]
) -> AlertGroup:
    found = family(setting.client_id, alert, setting.correlation)
    if found.key not in groups:
        groups[found.key] = AlertGroup(
            id=setting.new_id(),
            client_id=setting.client_id,
            family_key=found.key,
            rule=found.rule,
            scope=found.scope,
            alert_class=classify(alert, expressions.get(alert.rule)),
        )
    return groups[found.key]


def masked(alert: Alert, redactor: Redactor) -> Alert:
    """The alert without what looks like a secret."""
    hidden = {
        "labels": redactor.mapping(alert.labels),
        "annotations": redactor.mapping(alert.annotations),
    }
    return Alert.model_validate({**alert.model_dump(), **hidden})


async def case_of(incident: Incident, ports: Ports, client: Client = CLIENT) -> CaseFile:
    """An incident with the facts that can be had of it now."""
    pack: Pack = await build(Subject(incident=incident), ports)
    return CaseFile(client=client, incident=incident, pack=pack)
