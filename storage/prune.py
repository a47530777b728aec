"""Forgets what grows without end; incidents and findings stay, the audit trail stays longer."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, cast

from sqlalchemy import CursorResult, text

from storage.store import SqlStore

CHUNK = 5_000
"""Rows per transaction: nobody waits long for a lock."""

_ENDED = "not exists (select from incidents i where i.id = incident_id and i.state = 'open')"
_OLD: Mapping[str, str] = {
    "session_events": "at < :before",
    "llm_calls": "sent_at < :before",
    "lookups": "at < :before",
    "transitions": "at < :before",
    "changes": "at < :before",
    "quarantine": "at < :before",
    "dead_letters": "at < :before",
    "arrivals": "at < :before",
    "prompts": "expires_at < :before",
    "mutes": "until < :before",
    "pages": "created_at < :before and state <> 'waiting'",
    "jobs": "state = 'dead' and dead_at < :before",
    "packs": f"frozen_at < :before and {_ENDED}",
    "fact_sheets": f"at < :before and {_ENDED}",
    "charts": f"at < :before and {_ENDED}",
    "alert_events": "last_seen_at < :before and not exists"
    " (select from incident_members m where m.event_id = alert_events.id)",
}
_DELETE = {
    table: text(
        f"delete from {table} where ctid = any(array("  # noqa: S608 - our own words
        f"select ctid from {table} where {old} limit {CHUNK}))"
    )
    for table, old in _OLD.items()
}


async def prune(store: SqlStore, before: datetime) -> dict[str, int]:
    """Forget what is older than `before`; says how many rows of each table went."""
    gone = dict.fromkeys(_DELETE, 0)
    for table, statement in _DELETE.items():
        deleted = CHUNK
        while deleted == CHUNK:
            async with store.begin() as tx:
                result = await tx.session.execute(statement, {"before": before})
                deleted = cast("CursorResult[Any]", result).rowcount
            gone[table] += deleted
    return {table: rows for table, rows in gone.items() if rows}
