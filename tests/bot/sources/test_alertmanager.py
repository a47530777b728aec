"""Alertmanager's webhook body, well-formed and not."""

import gzip
import json
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.sources.alertmanager import SOURCE
from bot.sources.source import MAX_ALERTS, Parsed, UnreadableError
from engine.model.alert import AlertStatus, Severity

NOW = datetime(2026, 11, 30, 20, 0, tzinfo=UTC)
LABELS = {"alertname": "HighErrorRate", "service": "checkout", "severity": "critical"}


def row(**other: Any) -> dict[str, Any]:
    start = {"startsAt": "2026-11-30T19:49:02.372Z", "endsAt": "0001-01-01T00:00:00Z"}
    return {"status": "firing", "labels": LABELS, "annotations": {}, **start, **other}


def body(*rows: Any, **other: Any) -> bytes:
    envelope = {"version": "4", "status": "firing", "groupKey": "{}:{}", "alerts": list(rows)}
    return json.dumps(envelope | other).encode()


def parse(raw: bytes) -> Parsed:
    return SOURCE.parse(raw, NOW)


def test_an_alert_keeps_what_its_sender_said() -> None:
    sent = row(fingerprint="eb90f0581378bc92", generatorURL="http://prometheus:9090/graph")
    alert = parse(body(sent)).alerts[0]
    assert alert.source == "alertmanager"
    assert alert.status is AlertStatus.FIRING
    assert alert.severity is Severity.CRITICAL
    assert alert.labels == LABELS
    assert alert.source_fingerprint == "eb90f0581378bc92"
    assert alert.generator_url == "http://prometheus:9090/graph"
    assert alert.starts_at == datetime(2026, 11, 30, 19, 49, 2, 372000, UTC)
    assert alert.ends_at is None


def test_a_source_name_is_part_of_the_fingerprint() -> None:
    ours = parse(body(row())).alerts[0]
    theirs = SOURCE.named("alertmanager-eu").parse(body(row()), NOW).alerts[0]
    assert theirs.source == "alertmanager-eu"
    assert theirs.fingerprint != ours.fingerprint


def test_a_bad_alert_never_drops_its_siblings() -> None:
    bad = [None, 7, [], {}, row(labels={}), row(labels={"a": ""}), row(status="strange")]
    parsed = parse(body(row(), *bad, row(labels={"alertname": "Other"})))
    assert [alert.rule for alert in parsed.alerts] == ["HighErrorRate", "Other"]
    assert len(parsed.refused) == len(bad)
    assert all(one.reason and one.text for one in parsed.refused)


ODD = [
    None, 0, -1, 1.5, True, "", [], {}, ["x"], {"a": 1}, "NaN", float("nan"), float("inf"),
    10**400, "x" * 70_000, "\x00", "\ud800", "30/11/2026 19:00", "Nov 30, 2026 7:49 PM",
    "2026-13-45", "2026-11-30T24:00:00Z", "2026-11-30T19:49:02+99:99", "1764532142123", "no_data",
]  # fmt: skip
FIELDS = ["status", "labels", "annotations", "startsAt", "endsAt", "fingerprint", "generatorURL"]


@pytest.mark.parametrize("name", FIELDS)
def test_a_field_of_any_kind_is_read_or_refused_alone(name: str) -> None:
    for odd in ODD:
        parsed = parse(body(row(**{name: odd}), row(labels={"alertname": "Sibling"})))
        assert parsed.canonical()
        assert "Sibling" in {alert.rule for alert in parsed.alerts}
        assert len(parsed.alerts) + len(parsed.refused) == 2


@pytest.mark.parametrize(
    ("own", "envelope", "expected"),
    [
        ("resolved", "firing", AlertStatus.RESOLVED),
        ("firing", "resolved", AlertStatus.FIRING),
        (None, "resolved", AlertStatus.RESOLVED),
        ("FIRING", None, AlertStatus.FIRING),
        (None, None, AlertStatus.FIRING),
    ],
)
def test_the_alerts_own_status_wins_over_the_envelopes(
    own: str | None, envelope: str | None, expected: AlertStatus
) -> None:
    alert = parse(body(row(status=own), status=envelope)).alerts[0]
    assert alert.status is expected


def test_without_any_status_an_end_in_the_past_is_the_resolution() -> None:
    ended = row(status=None, endsAt="2026-11-30T19:55:00Z")
    assert parse(body(ended, status=None)).alerts[0].status is AlertStatus.RESOLVED


@pytest.mark.parametrize(
    ("ends", "expected"),
    [
        ("2026-11-30T19:54:05.685041Z", datetime(2026, 11, 30, 19, 54, 5, 685000, UTC)),
        ("0001-01-01T00:00:00Z", NOW),
        (None, NOW),
        ("2027-11-30T19:54:05Z", NOW),
    ],
)
def test_a_resolved_alert_has_an_end_not_after_its_arrival(
    ends: str | None, expected: datetime
) -> None:
    assert parse(body(row(status="resolved", endsAt=ends))).alerts[0].ends_at == expected


@pytest.mark.parametrize(
    ("start", "expected", "noted"),
    [
        ("2026-11-30T19:49:02.372693123Z", timedelta(minutes=10, seconds=57.628), False),
        ("2026-11-30T22:49:02.372+03:00", timedelta(minutes=10, seconds=57.628), False),
        (None, timedelta(0), True),
        ("0001-01-01T00:00:00Z", timedelta(0), True),
        ("yesterday", timedelta(0), True),
        ("2026-11-30T20:00:40Z", timedelta(seconds=-40), False),
        ("2099-01-01T00:00:00Z", timedelta(0), True),
        ("99999-01-01T00:00:00Z", timedelta(0), True),
        (10**300, timedelta(0), True),
    ],
)
def test_a_start_that_makes_no_sense_is_the_arrival_and_says_so(
    start: Any, expected: timedelta, noted: bool
) -> None:
    parsed = parse(body(row(startsAt=start)))
    assert NOW - parsed.alerts[0].starts_at == expected
    assert bool(parsed.notes) is noted


def test_a_start_without_a_zone_is_utc_and_says_so() -> None:
    parsed = parse(body(row(startsAt="2026-11-30T19:49:02")))
    assert parsed.alerts[0].zone_assumed
    assert parsed.alerts[0].starts_at == datetime(2026, 11, 30, 19, 49, 2, tzinfo=UTC)
    assert "UTC" in parsed.notes[0]


def test_label_values_that_are_no_text_become_text() -> None:
    odd = LABELS | {"n": 5, "f": 0.5, "yes": True, "no": None, "deep": {"a": [1]}}
    labels = parse(body(row(labels=odd))).alerts[0].labels
    assert labels == LABELS | {"n": "5", "f": "0.5", "yes": "true", "no": "", "deep": '{"a":[1]}'}


def test_nothing_a_database_refuses_comes_through() -> None:
    raw = body(row()).replace(b'"annotations": {}', b'"annotations": {"a": NaN, "b": Infinity}')
    raw = raw.replace(b'"checkout"', rb'"check\u0000out \ud83d x"')
    alert = parse(raw).alerts[0]
    assert alert.annotations == {"a": "NaN", "b": "Infinity"}
    assert alert.labels["service"] == "checkout \ufffd x"
    assert alert.canonical().encode()


def test_a_number_too_long_to_be_one_costs_no_alert() -> None:
    raw = body(row()).replace(b'"annotations": {}', b'"annotations": {"n": ' + b"9" * 5_000 + b"}")
    assert parse(raw).alerts[0].annotations == {"n": "9" * 5_000}


def test_bytes_of_another_encoding_cost_no_alert() -> None:
    latin = body(row(labels=LABELS | {"team": "K\u00f6ln"})).replace(rb"\u00f6", b"\xf6")
    assert parse(latin).alerts[0].labels["team"] == "K\u00f6ln"
    assert parse(b"\xef\xbb\xbf" + body(row())).alerts[0].labels == LABELS


@pytest.mark.parametrize(
    ("raw", "status", "says"),
    [
        (b"", 400, "empty"),
        (b" \n ", 400, "empty"),
        (b"alerts=1", 400, "not JSON"),
        (body(row())[:-40], 400, "not JSON"),
        (body(row()) * 2, 400, "more than one"),
        (b"[" * 100_000, 400, "deeper"),
        (b'{"version":"4","alerts":[' + b'{"a":' * 70 + b"1" + b"}" * 70 + b"]}", 400, "deeper"),
        (b"null", 400, "no list of alerts"),
        (b"[]", 400, "no list of alerts"),
        (b'{"summary": "x", "labels": {"a": "b"}}', 400, "no list of alerts"),
        (b'{"alerts": {}}', 400, "no list of alerts"),
        (body(), 400, "empty"),
        (body(row(), version="3"), 400, "'3'"),
        (body(row(), version="1"), 400, "'1'"),
        (body(row()).decode().encode("utf-16"), 415, "UTF-8"),
        (body(row()).decode().encode("utf-16-le"), 415, "UTF-8"),
        (gzip.compress(body(row())), 415, "compressed"),
        (body(*[1] * (MAX_ALERTS + 1)), 413, "20,000"),
    ],
)
def test_a_body_of_no_use_is_refused_with_its_reason(raw: bytes, status: int, says: str) -> None:
    with pytest.raises(UnreadableError) as caught:
        parse(raw)
    assert caught.value.status == status
    assert says in caught.value.reason


def test_a_depth_of_64_is_still_read() -> None:
    deep: Any = "x"
    for _ in range(58):
        deep = [deep]
    assert parse(body(row(annotations={"deep": deep}))).alerts


@pytest.mark.parametrize(
    ("said", "expected"), [(5, 5), ("35", 35), (0, 0), (None, 0), (-1, 0), ("x", 0), (1e300, 0)]
)
def test_the_alerts_a_sender_left_out_are_counted(said: Any, expected: int) -> None:
    assert parse(body(row(), truncatedAlerts=said)).truncated == expected


def test_the_senders_grouping_is_recorded() -> None:
    assert parse(body(row())).sender_group == "{}:{}"


def test_a_duplicate_in_one_body_is_the_same_alert_twice() -> None:
    one, two = parse(body(row(), row(fingerprint="unknown"))).alerts
    assert one.fingerprint == two.fingerprint


def test_all_labels_make_the_fingerprint() -> None:
    many = LABELS | {f"a{n:03}": "x" for n in range(500)}
    alert, other = parse(body(row(labels=many), row(labels=many | {"a499": "y"}))).alerts
    assert alert.fingerprint != other.fingerprint
    assert alert.labels == many


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=9), inner),
    max_leaves=12,
)
fields = st.sampled_from(["status", "labels", "annotations", "startsAt", "endsAt", "fingerprint"])


@settings(max_examples=100, deadline=None)
@given(
    rows=st.lists(st.dictionaries(fields, json_values) | json_values, max_size=4), more=json_values
)
def test_no_json_makes_it_fail_unhandled(rows: list[Any], more: Any) -> None:
    raw = json.dumps({"alerts": rows, "truncatedAlerts": more, "groupKey": more}).encode()
    with suppress(UnreadableError):
        parsed = parse(raw)
        assert len(parsed.alerts) + len(parsed.refused) == len(rows)
        assert parsed.canonical().encode()


@settings(max_examples=300, deadline=None)
@given(raw=st.binary(max_size=60) | st.text(max_size=60).map(str.encode))
def test_no_bytes_make_it_fail_unhandled(raw: bytes) -> None:
    with suppress(UnreadableError):
        assert parse(raw).alerts
