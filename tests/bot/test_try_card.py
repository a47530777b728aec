"""A payload as it would be posted."""

import json
from datetime import UTC, datetime

import pytest

from bot.cli.errors import CommandError
from bot.cli.try_card import SURFACES, run_card

NOW = datetime(2026, 11, 30, 3, 2, tzinfo=UTC)
BODY = json.dumps(
    {
        "version": "4",
        "status": "firing",
        "truncatedAlerts": 7,
        "alerts": [
            {
                "status": "firing",
                "labels": {
                    "alertname": "HighErrorRate",
                    "service": service,
                    "severity": "critical",
                    "cluster": "eu-1",
                },
                "annotations": {"summary": "<!channel> [x](http://evil.example)"},
                "startsAt": "2026-11-30T03:00:00Z",
            }
            for service in ("checkout", "checkout")
        ],
    }
).encode()


@pytest.mark.parametrize("surface", SURFACES)
def test_a_payload_becomes_the_facts_card_of_a_surface(surface: str) -> None:
    text = run_card(surface, BODY, NOW)
    for part in ("CRITICAL", "HighErrorRate", "checkout", "Can it wait? Unknown"):
        assert part in text
    assert "no change source is connected" in text
    assert "left out by the sender" in text


def test_slacks_card_is_the_json_of_a_post() -> None:
    message = json.loads(run_card("slack", BODY, NOW))
    assert set(message) == {"text", "blocks", "metadata"}
    assert "<!channel>" not in json.dumps(message)


def test_a_resolved_payload_becomes_a_resolved_card() -> None:
    body = json.loads(BODY)
    for alert in body["alerts"]:
        alert |= {"status": "resolved", "endsAt": "2026-11-30T03:01:00Z"}
    assert "RESOLVED" in run_card("terminal", json.dumps(body).encode(), NOW)


@pytest.mark.parametrize(("surface", "body"), [("fax", BODY), ("slack", b"{}"), ("slack", b"nope")])
def test_what_cannot_be_drawn_is_refused_with_a_reason(surface: str, body: bytes) -> None:
    with pytest.raises(CommandError):
        run_card(surface, body, NOW)
