"""What is forgotten with time, and what never is, on a real database."""

from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import text

from storage.audit import mark_of
from storage.prune import prune
from storage.store import SqlStore
from storage.tables import (
    AlertEventRow,
    AlertGroupRow,
    Base,
    ChangeRow,
    ClientRow,
    FactSheetRow,
    IncidentRow,
    JobRow,
    MemberRow,
    PackRow,
    QuarantineRow,
    SessionEventRow,
)

NOW = datetime(2026, 11, 1, tzinfo=UTC)
OLD, FRESH = NOW - timedelta(days=100), NOW - timedelta(days=1)
BEFORE = NOW - timedelta(days=90)
OF_ACME: dict[str, Any] = {"client_id": "acme"}


def incident(id_: str, number: int, state: str) -> IncidentRow:
    return IncidentRow(
        **OF_ACME, id=id_, number=number, state=state, severity="critical", alert_class="symptom",
        settle_at=OLD, window_until=OLD,
    )  # fmt: skip


def event(fingerprint: str, seen_at: datetime) -> AlertEventRow:
    return AlertEventRow(
        **OF_ACME, source="prom", fingerprint=fingerprint, starts_at=OLD, status="resolved",
        severity="critical", labels={}, annotations={}, alert={}, group_id="g",
        last_seen_at=seen_at,
    )  # fmt: skip


def dated(at: datetime, mark: str) -> list[Base]:
    """One row of several kinds at a time."""
    return [
        ChangeRow(
            **OF_ACME, source="ci", kind="deploy", at=at, component="c", what="w", labels={},
            dedup_key=mark,
        ),
        QuarantineRow(
            **OF_ACME, source="prom", reason="r", body="b", size=1, body_hash=mark, at=at
        ),
        SessionEventRow(**OF_ACME, triage_id=mark, kind="stage", facts={}, at=at),
        JobRow(**OF_ACME, queue="facts", key=mark, ids={}, state="dead", dead_at=at),
    ]  # fmt: skip


async def seed(store: SqlStore) -> None:
    async with store.begin() as tx:
        tx.session.add(ClientRow(id="acme"))
        await tx.session.flush()
        tx.session.add_all([incident("open", 1, "open"), incident("over", 2, "resolved")])
        group = {"family_key": "f", "rule": "r", "scope": {}, "alert_class": "symptom"}
        tx.session.add(AlertGroupRow(**OF_ACME, id="g", **group))
        await tx.session.flush()
        tx.session.add_all([*dated(OLD, "old"), *dated(FRESH, "fresh")])
        for id_ in ("open", "over"):
            sheet = {"incident_id": id_, "body": "{}", "complete": True, "at": OLD}
            pack = {"incident_id": id_, "hash": id_, "revision": 1, "body": "{}", "frozen_at": OLD}
            tx.session.add_all([FactSheetRow(**OF_ACME, **sheet), PackRow(**OF_ACME, **pack)])
        held = event("held", OLD)
        tx.session.add_all([held, event("loose", OLD), event("lately", FRESH)])
        tx.session.add(JobRow(**OF_ACME, queue="facts", key="live", ids={}, created_at=OLD))
        await tx.session.flush()
        tx.session.add(
            MemberRow(
                **OF_ACME, incident_id="over", fingerprint="held", group_id="g", event_id=held.id,
                state="resolved", reason="first",
            )
        )  # fmt: skip
        await tx.audit.append("acme", "cli:ops", "flag set", {"flag": "ai_triage"})


async def left(store: SqlStore, table: str, column: str) -> list[str]:
    async with store.begin() as tx:
        asked = text(f"select {column} from {table} order by {column}")
        return [str(value) for value in (await tx.session.execute(asked)).scalars()]


async def test_what_is_past_its_time_goes_and_the_rest_stays(store: SqlStore) -> None:
    await seed(store)

    gone = await prune(store, BEFORE)

    assert gone == {
        "changes": 1, "quarantine": 1, "session_events": 1, "jobs": 1, "packs": 1, "fact_sheets": 1,
        "alert_events": 1,
    }  # fmt: skip
    assert await left(store, "changes", "dedup_key") == ["fresh"]
    assert await left(store, "jobs", "key") == ["fresh", "live"]
    assert await left(store, "alert_events", "fingerprint") == ["held", "lately"]


async def test_the_evidence_of_what_is_still_open_stays_however_old(store: SqlStore) -> None:
    await seed(store)
    await prune(store, BEFORE)
    assert await left(store, "packs", "hash") == ["open"]
    assert await left(store, "fact_sheets", "incident_id") == ["open"]


async def test_incidents_are_never_forgotten_and_the_audit_trail_not_with_the_rest(
    store: SqlStore,
) -> None:
    await seed(store)
    await prune(store, NOW + timedelta(days=365))
    assert await left(store, "incidents", "id") == ["open", "over"]
    assert len(await left(store, "audit", "id")) == 1


async def audited(store: SqlStore, actor: str, days_ago: int) -> str:
    """Write an audit row of so many days ago; gives its mark."""
    async with store.begin() as tx:
        await tx.audit.append("acme", actor, "flag set", {})
        moved = text(
            "update audit set at = :now - make_interval(days => :days) where actor = :a"
            " returning mark"
        )
        asked = {"now": NOW, "days": days_ago, "a": actor}
        return str((await tx.session.execute(moved, asked)).scalar_one())


async def test_the_audit_trail_is_cut_at_its_own_age_and_says_how_far(store: SqlStore) -> None:
    await audited(store, "first", 450)
    mark = await audited(store, "second", 401)
    await audited(store, "third", 399)
    async with store.begin() as tx:
        assert await tx.audit.forget(NOW - timedelta(days=400)) == 2
    assert await left(store, "audit", "actor") == ["engine", "third"]
    async with store.begin() as tx:
        sealed = text("select facts from audit where action = 'audit forgotten'")
        assert (await tx.session.execute(sealed)).scalar_one() == {"through": 2, "mark": mark}
        assert await tx.audit.forget(NOW - timedelta(days=400)) == 0


async def test_the_chain_goes_on_where_every_row_was_forgotten(store: SqlStore) -> None:
    before = await audited(store, "only", 450)
    async with store.begin() as tx:
        await tx.audit.forget(NOW - timedelta(days=400))
        asked = text("select client_id, at, actor, action, facts, mark from audit")
        (row,) = (await tx.session.execute(asked)).all()
    content = {**row._asdict(), "at": row.at.isoformat()}
    sealed = content.pop("mark")
    assert mark_of(b"tests", before, content) == sealed


async def test_nothing_old_is_nothing_to_do(store: SqlStore) -> None:
    await seed(store)
    assert await prune(store, OLD - timedelta(days=1)) == {}
