"""What a question is about, and since when."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.inquiries.reading import LONGEST, scopes, window
from engine.inquiries.subject import incident_of
from engine.model.inquiry import Inquiry
from engine.verification.scope import ladder

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
KNOWN = [
    {"namespace": "shop", "service": "checkout-api", "job": "checkout-api"},
    {"namespace": "shop", "service": "checkout-db"},
    {"namespace": "shop", "service": "cart"},
    {"namespace": "pay", "service": "cart"},
    {"host": "db-9"},
]


@pytest.mark.parametrize(
    ("said", "since"),
    [
        ("why is checkout slow", timedelta(hours=1)),
        ("errors in the last 2 hours?", timedelta(hours=2)),
        ("what happened in the past 30 minutes", timedelta(minutes=30)),
        ("slow for 15m", timedelta(minutes=15)),
        ("down since 11:45", timedelta(minutes=15)),
        ("down since 13:00", timedelta(hours=23)),
        ("slow for a few hours", timedelta(hours=3)),
        ("last hour", timedelta(hours=1)),
        ("the last 9 days", LONGEST),
        ("the last 99999999999999 d", LONGEST),
        ("the last 0 hours", timedelta(hours=1)),
    ],
)
def test_the_time_it_speaks_of(said: str, since: timedelta) -> None:
    assert window(said, NOW) == (NOW - since, NOW)


@pytest.mark.parametrize(
    ("said", "found"),
    [
        (
            "why is checkout-api slow?",
            [{"namespace": "shop", "service": "checkout-api"}],
        ),
        (
            "why is checkout slow",
            [
                {"namespace": "shop", "service": "checkout-api"},
                {"namespace": "shop", "service": "checkout-db"},
            ],
        ),
        (
            "cart?",
            [{"namespace": "pay", "service": "cart"}, {"namespace": "shop", "service": "cart"}],
        ),
        ("is the cart in pay ok", [{"namespace": "pay", "service": "cart"}]),
        ("DB-9 looks odd", [{"host": "db-9"}]),
        ("what about shop", [{"namespace": "shop"}]),
        ("is anything wrong", []),
        ("", []),
    ],
)
def test_names_are_found_where_label_values_bear_them(
    said: str, found: list[dict[str, str]]
) -> None:
    assert list(scopes(said, KNOWN)) == found


@given(st.text(max_size=300), st.lists(st.dictionaries(st.text(), st.text()), max_size=5))
def test_no_text_breaks_the_reading(said: str, known: list[dict[str, str]]) -> None:
    start, end = window(said, NOW)
    assert start < end
    for scope in scopes(said, known):
        assert any(scope.items() <= labels.items() for labels in known)


def test_what_is_looked_at_is_held_to_what_was_named() -> None:
    asked: dict[str, Any] = {"scope": {"namespace": "shop", "service": "cart"}, "text": "cart?"}
    inquiry = Inquiry(
        id="q1",
        client_id="acme",
        room_id="r",
        asked_by="ada",
        account="slack:U1",
        asked_at=NOW,
        start_at=NOW - timedelta(hours=1),
        end_at=NOW,
        **asked,
    )
    incident = incident_of(inquiry)
    assert ladder(incident)[0].labels == {"namespace": "shop", "service": "cart"}
    assert incident.lead.alert.starts_at == inquiry.start_at
