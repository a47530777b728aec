"""The change webhook."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from bot.sources.changes import SOURCE
from bot.sources.source import UnreadableError
from engine.model.change import Change
from engine.model.pack import ChangeKind

NOW = datetime(2026, 11, 30, 20, 0, tzinfo=UTC)
ROW: dict[str, Any] = {
    "kind": "deploy",
    "labels": {"service": "checkout", "namespace": "shop"},
    "what": "v2.4.1",
    "at": "2026-11-30T19:40:00Z",
}


def read(document: Any) -> tuple[Change, ...]:
    return SOURCE.parse(json.dumps(document).encode(), NOW).changes


def test_a_change_says_what_changed_where_and_when() -> None:
    (change,) = read(ROW | {"id": "run-17", "host": "web-1:22"})
    assert change == Change(
        source="changes",
        kind=ChangeKind.DEPLOY,
        at=datetime(2026, 11, 30, 19, 40, tzinfo=UTC),
        component="checkout",
        what="v2.4.1",
        labels={"service": "checkout", "namespace": "shop"},
        host="web-1",
        dedup_key="run-17",
    )


@pytest.mark.parametrize("document", [ROW, [ROW], {"changes": [ROW]}])
def test_one_change_or_a_list_of_them_is_read(document: Any) -> None:
    assert [change.what for change in read(document)] == ["v2.4.1"]


def test_a_bad_change_never_drops_its_siblings() -> None:
    bad = [None, {}, ROW | {"kind": ""}, ROW | {"labels": {}}, {"kind": "deploy"}]
    parsed = SOURCE.parse(json.dumps([*bad, ROW]).encode(), NOW)
    assert len(parsed.changes) == 1
    assert [one.reason for one in parsed.refused] == [
        "The change is not an object.",
        "The change has no kind.",
        "The change has no kind.",
        "The change has no labels.",
        "The change has no labels.",
    ]


@pytest.mark.parametrize("at", ["2026-12-01T00:00:00Z", None, "tomorrow"])
def test_a_time_in_the_future_or_none_is_when_we_heard(at: Any) -> None:
    assert read(ROW | {"at": at})[0].at == NOW


@pytest.mark.parametrize(
    ("said", "kind", "what"),
    [
        ("Deployment", ChangeKind.DEPLOY, "v2.4.1"),
        ("feature-flag", ChangeKind.CONFIG, "v2.4.1"),
        ("restart", ChangeKind.RESTART, "v2.4.1"),
        ("certificate swap", ChangeKind.OTHER, "certificate swap: v2.4.1"),
    ],
)
def test_an_unknown_kind_is_kept_in_words(said: str, kind: ChangeKind, what: str) -> None:
    (change,) = read(ROW | {"kind": said})
    assert (change.kind, change.what) == (kind, what)


@pytest.mark.parametrize(
    ("row", "component"),
    [
        ({"component": "cart", "labels": {"service": "x"}}, "cart"),
        ({"labels": {"deployment": "api"}}, "api"),
        ({"labels": {"instance": "db-1:5432"}}, "db-1"),
        ({"labels": {"ticket": "OPS-1"}}, "OPS-1"),
    ],
)
def test_the_component_is_the_nearest_name_there_is(row: dict[str, Any], component: str) -> None:
    assert read({"kind": "deploy", **row})[0].component == component


@pytest.mark.parametrize("document", [[], "x", None, {"changes": {}}])
def test_a_body_without_a_change_is_refused(document: Any) -> None:
    with pytest.raises(UnreadableError):
        read(document)
