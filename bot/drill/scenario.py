"""What a rehearsed failure is made of."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from bot.drill.doubles.prometheus import MetricsDouble

NAMESPACE = "drill-shop"
NEVER = "0001-01-01T00:00:00Z"
Json = dict[str, Any]


@dataclass(frozen=True)
class Stage:
    """Where and when one rehearsal plays; a cluster of its own keeps rehearsals apart."""

    cluster: str
    now: datetime

    @property
    def where(self) -> Mapping[str, str]:
        """Labels everything of this rehearsal carries."""
        return {"cluster": self.cluster, "namespace": NAMESPACE}

    def ago(self, seconds: float) -> datetime:
        """A moment before now."""
        return self.now - timedelta(seconds=seconds)


@dataclass(frozen=True)
class DrillAlert:
    """An alert that fires in a rehearsal."""

    rule: str
    labels: Mapping[str, str]
    summary: str
    severity: str = "critical"
    fired_s: float = 5
    """Seconds ago that it fired."""
    annotations: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class DrillRule:
    """An alerting rule the rehearsal's metrics server has."""

    name: str
    expression: str
    for_s: float = 120


@dataclass(frozen=True)
class Scenario:
    """One rehearsed failure."""

    name: str
    about: str
    plant: Callable[[MetricsDouble, Stage], None]
    alerts: Callable[[Stage], Sequence[DrillAlert]]
    rules: Callable[[Stage], Sequence[DrillRule]] = lambda _: ()
    changes: Callable[[Stage], Sequence[Json]] = lambda _: ()


def alertmanager_post(stage: Stage, alerts: Sequence[DrillAlert], *, resolved: bool) -> Json:
    """What Alertmanager would post for these alerts."""
    status = "resolved" if resolved else "firing"
    return {
        "version": "4",
        "groupKey": f'{{}}:{{namespace="{NAMESPACE}"}}',
        "truncatedAlerts": 0,
        "status": status,
        "receiver": "caveat",
        "groupLabels": {"namespace": NAMESPACE},
        "commonLabels": {},
        "commonAnnotations": {},
        "externalURL": "",
        "alerts": [_posted(stage, alert, status) for alert in alerts],
    }


def _posted(stage: Stage, alert: DrillAlert, status: str) -> Json:
    return {
        "status": status,
        "labels": {
            "alertname": alert.rule,
            "severity": alert.severity,
            **stage.where,
            **alert.labels,
        },
        "annotations": {"summary": alert.summary, **alert.annotations},
        "startsAt": stage.ago(alert.fired_s).isoformat(),
        "endsAt": NEVER if status == "firing" else stage.now.isoformat(),
        "generatorURL": "",
    }


def rule_groups(stage: Stage, scenario: Scenario) -> list[Json]:
    """The rules as Prometheus' API gives them, each with its firing alerts."""
    alerts = scenario.alerts(stage)
    rules = [
        {
            "name": rule.name,
            "query": rule.expression,
            "duration": rule.for_s,
            "labels": {},
            "annotations": {},
            "state": "firing",
            "type": "alerting",
            "health": "ok",
            "alerts": [_active(stage, a, rule) for a in alerts if a.rule == rule.name],
        }
        for rule in scenario.rules(stage)
    ]
    return [{"name": "drill", "file": "drill.yml", "interval": 15, "rules": rules}]


def active_alerts(stage: Stage, scenario: Scenario) -> list[Json]:
    """The alerts as Prometheus' API gives them."""
    rules = {rule.name: rule for rule in scenario.rules(stage)}
    return [_active(stage, a, rules[a.rule]) for a in scenario.alerts(stage) if a.rule in rules]


def _active(stage: Stage, alert: DrillAlert, rule: DrillRule) -> Json:
    labels = {"alertname": alert.rule, "severity": alert.severity, **stage.where, **alert.labels}
    return {
        "labels": labels,
        "annotations": {"summary": alert.summary},
        "state": "firing",
        "activeAt": stage.ago(alert.fired_s + rule.for_s).isoformat(),
        "value": "1",
    }
