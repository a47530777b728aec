"""Heartbeats: when each was last seen, how far apart they come, whether one is missing."""

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from engine.model.alert import Alert, AlertClass
from engine.model.incident import AlertGroup
from engine.model.standing import Heartbeat, Sighting

_COLUMNS = "client_id, fingerprint, source, rule, last_seen_at, gap_s, missing_since, incident_id"
_GET = text(f"""
    select {_COLUMNS} from heartbeats where client_id = :client_id and fingerprint = :fingerprint
""")  # noqa: S608 - a constant
_ALIVE = text(f"""
    select {_COLUMNS} from heartbeats where client_id = :client_id and missing_since is null
    order by fingerprint
""")  # noqa: S608 - a constant
_SAVE = text("""
    insert into heartbeats (client_id, fingerprint, source, rule, last_seen_at, gap_s,
                            missing_since, incident_id)
    values (:client_id, :fingerprint, :source, :rule, :last_seen_at, :gap_s, :missing_since,
            :incident_id)
    on conflict (client_id, fingerprint) do update set
        last_seen_at = excluded.last_seen_at, gap_s = excluded.gap_s,
        missing_since = excluded.missing_since, incident_id = excluded.incident_id
""")
_NEWEST = text("""
    select e.id as event_id, e.alert, g.id, g.client_id, g.family_key, g.rule, g.scope,
           g.alert_class
    from alert_events e join alert_groups g on g.id = e.group_id
    where e.client_id = :client_id and e.source = :source and e.fingerprint = :fingerprint
    order by e.starts_at desc limit 1
""")


class HeartbeatRows:
    """Heartbeats of every client."""

    def __init__(self, session: AsyncSession) -> None:
        """Speak through an open session."""
        self._session = session

    async def get(self, client_id: str, fingerprint: str) -> Heartbeat | None:
        """One heartbeat."""
        asked = {"client_id": client_id, "fingerprint": fingerprint}
        row = (await self._session.execute(_GET, asked)).one_or_none()
        return None if row is None else Heartbeat.model_validate(row._asdict())

    async def alive(self, client_id: str) -> list[Heartbeat]:
        """Heartbeats that are not missing."""
        found = await self._session.execute(_ALIVE, {"client_id": client_id})
        return [Heartbeat.model_validate(row._asdict()) for row in found]

    async def save(self, heartbeat: Heartbeat) -> None:
        """Keep it as it is now."""
        await self._session.execute(_SAVE, heartbeat.model_dump())

    async def sighting(self, heartbeat: Heartbeat) -> tuple[Sighting, AlertGroup, int]:
        """Its newest event, with its group and the event's id."""
        asked = heartbeat.model_dump(include={"client_id", "source", "fingerprint"})
        row = (await self._session.execute(_NEWEST, asked)).one()
        group = AlertGroup(
            id=row.id,
            client_id=row.client_id,
            family_key=row.family_key,
            rule=row.rule,
            scope=row.scope,
            alert_class=AlertClass(row.alert_class),
        )
        sighting = Sighting(
            alert=Alert.model_validate(row.alert), group_id=row.id, alert_class=group.alert_class
        )
        return sighting, group, row.event_id
