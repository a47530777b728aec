"""Alerts as they were received, and the groups they belong to."""

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import TypeVar

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from engine.model.alert import Alert, AlertStatus
from engine.model.incident import AlertGroup
from engine.model.standing import EventKey, Newest, Sighting

CHUNK = 2_000
"""Rows per statement."""
FRESH_S = 15.0
"""An event seen again sooner than this is not written again."""

_GROUPS = text("""
    select id, family_key, rule, scope, alert_class from alert_groups
    where client_id = :client_id and family_key = any(cast(:keys as text[]))
""")
_ADD_GROUPS = text("""
    insert into alert_groups (id, client_id, family_key, rule, scope, alert_class, sender_group)
    select id, :client_id, family_key, rule, cast(scope as jsonb), alert_class, :sender_group
    from unnest(cast(:ids as text[]), cast(:keys as text[]), cast(:rules as text[]),
                cast(:scopes as text[]), cast(:classes as text[]))
         as g (id, family_key, rule, scope, alert_class)
    on conflict on constraint one_group do update set alert_class = excluded.alert_class
""")
_KNOWN = text("""
    select e.fingerprint, e.starts_at, e.status, e.last_seen_at
    from unnest(cast(:fingerprints as text[]), cast(:starts as timestamptz[]))
         as k (fingerprint, starts_at)
    join alert_events e on e.client_id = :client_id and e.source = :source
         and e.fingerprint = k.fingerprint and e.starts_at = k.starts_at
""")
_KEEP = text("""
    insert into alert_events (
        client_id, source, fingerprint, starts_at, ends_at, status, severity, source_fingerprint,
        labels, annotations, alert, group_id, first_seen_at, last_seen_at
    )
    select :client_id, :source, k.fingerprint, k.starts_at, k.ends_at, k.status, k.severity,
           k.source_fingerprint, cast(k.labels as jsonb), cast(k.annotations as jsonb),
           cast(k.alert as jsonb), k.group_id, :now, :now
    from unnest(
        cast(:fingerprints as text[]), cast(:starts as timestamptz[]),
        cast(:ends as timestamptz[]), cast(:statuses as text[]), cast(:severities as text[]),
        cast(:source_fingerprints as text[]), cast(:labels as text[]),
        cast(:annotations as text[]), cast(:alerts as text[]), cast(:groups as text[])
    ) as k (fingerprint, starts_at, ends_at, status, severity, source_fingerprint, labels,
            annotations, alert, group_id)
    on conflict on constraint one_event do update set
        seen = alert_events.seen + 1,
        last_seen_at = greatest(alert_events.last_seen_at, excluded.last_seen_at),
        status = case when :polled or alert_events.status <> 'resolved'
                      then excluded.status else alert_events.status end,
        ends_at = case when :polled or alert_events.status <> 'resolved'
                       then excluded.ends_at else alert_events.ends_at end,
        annotations = case when :polled or alert_events.status <> 'resolved'
                           then excluded.annotations else alert_events.annotations end,
        alert = case when :polled or alert_events.status <> 'resolved'
                     then excluded.alert else alert_events.alert end
""")
_NEWEST = text("""
    select distinct on (fingerprint) fingerprint, id, starts_at, status from alert_events
    where client_id = :client_id and source = :source
      and fingerprint = any(cast(:fingerprints as text[]))
    order by fingerprint, starts_at desc
""")
_FIRING = text("""
    select alert from alert_events e
    where client_id = :client_id and source = :source and status = 'firing'
      and not exists (
          select from alert_events newer
          where newer.client_id = e.client_id and newer.source = e.source
            and newer.fingerprint = e.fingerprint and newer.starts_at > e.starts_at)
      and last_seen_at < :unseen_since
""")
_PRUNE = text("""
    delete from alert_events e where client_id = :client_id and last_seen_at < :before
      and not exists (select from incident_members m where m.event_id = e.id)
""")


_Row = TypeVar("_Row")


class EventRows:
    """Alert events and alert groups."""

    def __init__(self, session: AsyncSession) -> None:
        """Speak through an open session."""
        self._session = session

    async def groups(
        self, client_id: str, wanted: Mapping[str, AlertGroup], sender_group: str | None
    ) -> dict[str, AlertGroup]:
        """The groups of these families, by family key; those that are missing are added."""
        keys = sorted(wanted)
        have = await self._groups(client_id, keys)
        missing = [
            wanted[k] for k in keys if k not in have or have[k].alert_class != wanted[k].alert_class
        ]
        for chunk in _chunks(missing):
            await self._session.execute(
                _ADD_GROUPS,
                {
                    "client_id": client_id,
                    "sender_group": sender_group,
                    "ids": [g.id for g in chunk],
                    "keys": [g.family_key for g in chunk],
                    "rules": [g.rule for g in chunk],
                    "scopes": [json.dumps(dict(g.scope)) for g in chunk],
                    "classes": [g.alert_class.value for g in chunk],
                },
            )
        return await self._groups(client_id, keys) if missing else have

    async def _groups(self, client_id: str, keys: Sequence[str]) -> dict[str, AlertGroup]:
        found = await self._session.execute(_GROUPS, {"client_id": client_id, "keys": list(keys)})
        return {row.family_key: AlertGroup(client_id=client_id, **row._asdict()) for row in found}

    async def keep(
        self,
        client_id: str,
        source: str,
        sightings: Sequence[Sighting],
        *,
        now: datetime,
        polled: bool,
    ) -> set[EventKey]:
        """Keep every event; returns those that were known and say nothing new.

        For one start a resolve is final, in whatever order events come; only a source that is
        asked and says that the alert fires *now* takes it back (`polled`).
        """
        ordered = sorted(sightings, key=lambda s: (s.alert.fingerprint, s.alert.starts_at))
        known: set[EventKey] = set()
        for chunk in _chunks(ordered):
            before = await self._known(client_id, source, chunk)
            write = [s for s in chunk if _is_news(s, before, now)]
            known |= {_key(s) for s in chunk if not _changes(s, before, polled=polled)}
            if write:
                columns = _columns(write)
                rest = {"client_id": client_id, "source": source, "now": now, "polled": polled}
                await self._session.execute(_KEEP, columns | rest)
        return known

    async def _known(
        self, client_id: str, source: str, sightings: Sequence[Sighting]
    ) -> dict[EventKey, tuple[AlertStatus, datetime]]:
        found = await self._session.execute(
            _KNOWN,
            {
                "client_id": client_id,
                "source": source,
                "fingerprints": [s.alert.fingerprint for s in sightings],
                "starts": [s.alert.starts_at for s in sightings],
            },
        )
        return {
            (row.fingerprint, row.starts_at): (AlertStatus(row.status), row.last_seen_at)
            for row in found
        }

    async def newest(
        self, client_id: str, source: str, fingerprints: Iterable[str]
    ) -> dict[str, Newest]:
        """The newest event of each fingerprint."""
        found = await self._session.execute(
            _NEWEST,
            {"client_id": client_id, "source": source, "fingerprints": sorted(fingerprints)},
        )
        return {
            row.fingerprint: Newest(
                event_id=row.id, starts_at=row.starts_at, status=AlertStatus(row.status)
            )
            for row in found
        }

    async def unseen(self, client_id: str, source: str, since: datetime) -> list[Alert]:
        """Alerts of a source that fire as far as we know and were not seen since then."""
        found = await self._session.execute(
            _FIRING, {"client_id": client_id, "source": source, "unseen_since": since}
        )
        return [Alert.model_validate(row.alert) for row in found]

    async def prune(self, client_id: str, before: datetime) -> None:
        """Forget old events no incident refers to."""
        await self._session.execute(_PRUNE, {"client_id": client_id, "before": before})


def _key(sighting: Sighting) -> EventKey:
    return sighting.alert.fingerprint, sighting.alert.starts_at


Known = Mapping[EventKey, tuple[AlertStatus, datetime]]


def _changes(sighting: Sighting, known: Known, *, polled: bool) -> bool:
    before = known.get(_key(sighting))
    if before is None:
        return True
    status, _ = before
    return status is not sighting.alert.status and (polled or status is AlertStatus.FIRING)


def _is_news(sighting: Sighting, known: Known, now: datetime) -> bool:
    before = known.get(_key(sighting))
    if before is None or before[0] is not sighting.alert.status:
        return True
    return now - before[1] >= timedelta(seconds=FRESH_S)


def _chunks(rows: Sequence[_Row]) -> Iterable[Sequence[_Row]]:
    return (rows[at : at + CHUNK] for at in range(0, len(rows), CHUNK))


def _columns(sightings: Sequence[Sighting]) -> dict[str, object]:
    alerts = [s.alert for s in sightings]
    return {
        "fingerprints": [a.fingerprint for a in alerts],
        "starts": [a.starts_at for a in alerts],
        "ends": [a.ends_at for a in alerts],
        "statuses": [a.status.value for a in alerts],
        "severities": [a.severity.value for a in alerts],
        "source_fingerprints": [a.source_fingerprint for a in alerts],
        "labels": [json.dumps(dict(a.labels)) for a in alerts],
        "annotations": [json.dumps(dict(a.annotations)) for a in alerts],
        "alerts": [a.model_dump_json() for a in alerts],
        "groups": [s.group_id for s in sightings],
    }
