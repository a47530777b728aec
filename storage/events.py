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
FRESH_S = 10.0
"""An event seen again sooner than this is not written again."""

_GROUPS = text("""
    select id, family_key, rule, scope, alert_class from alert_groups
    where client_id = :client_id
      and family_key in (select json_array_elements_text(cast(:keys as json)))
""")
_ADD_GROUPS = text("""
    insert into alert_groups (id, client_id, family_key, rule, scope, alert_class, sender_group)
    select id, :client_id, family_key, rule, scope, alert_class, :sender_group
    from json_to_recordset(cast(:rows as json))
         as g (id text, family_key text, rule text, scope jsonb, alert_class text)
    on conflict on constraint one_group do update set alert_class = excluded.alert_class
""")
_KNOWN = text("""
    select e.fingerprint, e.starts_at, e.status, e.last_seen_at
    from json_to_recordset(cast(:rows as json)) as k (fingerprint text, starts_at timestamptz)
    join alert_events e on e.client_id = :client_id and e.source = :source
         and e.fingerprint = k.fingerprint and e.starts_at = k.starts_at
""")
_KEEP = text("""
    insert into alert_events (
        client_id, source, fingerprint, starts_at, ends_at, status, severity, source_fingerprint,
        labels, annotations, alert, group_id, first_seen_at, last_seen_at
    )
    select :client_id, :source, k.fingerprint, k.starts_at, k.ends_at, k.status, k.severity,
           k.source_fingerprint, k.labels, k.annotations, k.alert, k.group_id, :now, :now
    from json_to_recordset(cast(:rows as json)) as k (
        fingerprint text, starts_at timestamptz, ends_at timestamptz, status text, severity text,
        source_fingerprint text, labels jsonb, annotations jsonb, alert jsonb, group_id text)
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
      and fingerprint in (select json_array_elements_text(cast(:fingerprints as json)))
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
                    "rows": json.dumps([g.model_dump(mode="json") for g in chunk]),
                },
            )
        return await self._groups(client_id, keys) if missing else have

    async def _groups(self, client_id: str, keys: Sequence[str]) -> dict[str, AlertGroup]:
        found = await self._session.execute(
            _GROUPS, {"client_id": client_id, "keys": json.dumps(keys)}
        )
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
                rows = json.dumps([_columns(s) for s in write])
                rest = {"client_id": client_id, "source": source, "now": now, "polled": polled}
                await self._session.execute(_KEEP, rest | {"rows": rows})
        return known

    async def _known(
        self, client_id: str, source: str, sightings: Sequence[Sighting]
    ) -> dict[EventKey, tuple[AlertStatus, datetime]]:
        found = await self._session.execute(
            _KNOWN,
            {
                "client_id": client_id,
                "source": source,
                "rows": json.dumps(
                    [
                        {"fingerprint": f, "starts_at": starts_at.isoformat()}
                        for f, starts_at in map(_key, sightings)
                    ]
                ),
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
            {
                "client_id": client_id,
                "source": source,
                "fingerprints": json.dumps(sorted(fingerprints)),
            },
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


def _columns(sighting: Sighting) -> dict[str, object]:
    said = sighting.alert.model_dump(mode="json")
    names = ("starts_at", "ends_at", "status", "severity", "source_fingerprint")
    return {
        **{name: said[name] for name in (*names, "labels", "annotations")},
        "fingerprint": sighting.alert.fingerprint,
        "alert": said,
        "group_id": sighting.group_id,
    }
