"""What servers say fires, against what the webhook says of the same alert."""

import json
from datetime import UTC, datetime
from typing import Any

from bot.sources.alertmanager import SOURCE
from bot.sources.prometheus_alerts import (
    Polled,
    from_alertmanager,
    from_prometheus,
    rules_of,
    sent_as,
)
from bot.sources.source import Refused
from engine.model.alert import Alert, AlertStatus

NOW = datetime(2026, 11, 30, 20, 0, tzinfo=UTC)
LABELS = {"alertname": "HighErrorRate", "service": "checkout", "severity": "page"}


def held(state: str = "active", **other: Any) -> dict[str, Any]:
    return {
        "annotations": {},
        "endsAt": "2026-11-30T20:03:29.297Z",
        "fingerprint": "7ff03aaafdf6ad5d",
        "receivers": [{"name": "hook"}],
        "startsAt": "2026-11-30T19:49:02.372Z",
        "status": {"inhibitedBy": [], "silencedBy": [], "state": state},
        "updatedAt": "2026-11-30T19:59:29.297Z",
        "labels": LABELS,
        **other,
    }


def polled(row: Any) -> Polled:
    read = from_alertmanager(row, NOW, "alertmanager")
    assert isinstance(read, Polled)
    return read


def test_polling_and_the_webhook_make_one_event_of_one_alert() -> None:
    sent = {
        "status": "firing",
        "labels": LABELS,
        "startsAt": "2026-11-30T19:49:02.372693123Z",
        "endsAt": "0001-01-01T00:00:00Z",
        "fingerprint": "7ff03aaafdf6ad5d",
    }
    body = json.dumps({"version": "4", "alerts": [sent]}).encode()
    assert polled(held()).alert == SOURCE.parse(body, NOW).alerts[0]


def test_a_silenced_alert_still_fires() -> None:
    read = polled(held("suppressed"))
    assert read.suppressed
    assert read.alert.status is AlertStatus.FIRING
    assert not polled(held()).suppressed


def test_a_held_alert_whose_end_has_passed_is_resolved() -> None:
    assert polled(held(endsAt="2026-11-30T19:58:00Z")).alert.status is AlertStatus.RESOLVED


def test_a_held_row_without_labels_is_refused_and_not_raised() -> None:
    assert isinstance(from_alertmanager({"status": 3}, NOW, "a"), Refused)
    assert isinstance(from_alertmanager(None, NOW, "a"), Refused)
    assert isinstance(from_prometheus(None, NOW, "p"), Refused)


def test_prometheus_says_since_when_the_condition_holds() -> None:
    row = {"labels": LABELS, "state": "firing", "activeAt": "2026-11-30T19:39:02.37Z", "value": "1"}
    read = from_prometheus(row, NOW, "prometheus")
    assert isinstance(read, tuple)
    alert, active_at = read
    assert isinstance(alert, Alert)
    assert alert.status is AlertStatus.FIRING
    assert active_at == alert.starts_at == datetime(2026, 11, 30, 19, 39, 2, 370000, UTC)


def test_a_pending_alert_does_not_fire_yet() -> None:
    assert from_prometheus({"labels": LABELS, "state": "pending"}, NOW, "prometheus") is None


def test_rules_carry_expression_wait_and_their_alerts() -> None:
    alert = {"labels": LABELS, "state": "pending", "activeAt": "2026-11-30T19:39:02Z"}
    rule = {
        "type": "alerting",
        "name": "HighErrorRate",
        "query": "rate(errors_total[5m]) > 1",
        "duration": 600,
        "labels": {"severity": "page"},
        "alerts": [alert],
    }
    rules = [rule, {"type": "recording", "name": "a:b"}, {"type": "alerting"}, 5]
    (found,) = rules_of({"data": {"groups": [{"rules": rules}, {}, None]}})
    assert (found.name, found.for_s) == ("HighErrorRate", 600)
    assert found.expression == "rate(errors_total[5m]) > 1"
    assert not found.alerts[0].firing
    assert found.alerts[0].active_at == datetime(2026, 11, 30, 19, 39, 2, tzinfo=UTC)
    assert rules_of({"status": "error"}) == rules_of(None) == ()


def test_an_alert_sent_on_has_only_more_labels_than_the_one_held() -> None:
    assert sent_as(LABELS, LABELS | {"cluster": "eu-1", "prometheus": "monitoring/k8s"})
    assert not sent_as(LABELS, LABELS | {"service": "cart"})
    assert not sent_as({}, LABELS)
