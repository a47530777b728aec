"""Incidents: what is read before a decision, and what is kept after it."""

import asyncio
import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import func, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncSession

from engine.desk.ports import Word
from engine.errors import RecallError
from engine.model.incident import Incident, IncidentState
from engine.model.org import DRILL_CLIENT
from engine.model.standing import Flip, Newest, Recalled, Saved, Seat, Standing
from storage import incident_sql as sql
from storage.incident_values import (
    NeighbourRow,
    flip_of,
    incident_columns,
    member_rows,
    seat_of,
    standings,
)
from storage.tables import IncidentRow

SAMPLE = 40
"""Members of an incident read for joining, newest first."""
OPEN_AT_ONCE = 200
"""Open incidents an alert may join by correlation, newest first."""
DIGITS = 9
"""What is longer is no number of an incident."""
MANY = 200
"""Members from which on they become values off the event loop."""
FLIPS = 200
"""Transitions of a group that are remembered for a decision."""


class IncidentRows:
    """Incidents, their members and transitions."""

    def __init__(self, session: AsyncSession) -> None:
        """Speak through an open session."""
        self._session = session

    async def lock(self, client_id: str) -> None:
        """Decide alone for a client until the transaction ends."""
        await self._session.execute(sql.LOCK, {"client_id": client_id})

    async def get(self, incident_id: str) -> Incident | None:
        """One incident with all its groups and members."""
        found = await self.load([incident_id], sample=None)
        return found[0].incident if found else None

    async def named(self, client_id: str, said: str) -> Incident | None:
        """The incident a person means: by its number in the client, or by its id."""
        counted = said.isdecimal() and len(said) <= DIGITS
        meant = IncidentRow.number == int(said) if counted else IncidentRow.id == said
        found = select(IncidentRow.id).where(IncidentRow.client_id == client_id, meant)
        id_ = (await self._session.execute(found)).scalar_one_or_none()
        return None if id_ is None else await self.get(id_)

    async def alone(self, incident_id: str) -> None:
        """Decide alone about an incident until the transaction ends."""
        held = select(IncidentRow.id).where(IncidentRow.id == incident_id)
        await self._session.execute(held.with_for_update())

    async def take(self, incident_id: str, by: str, account: str) -> bool:
        """Put a name on an incident; False when one stands there."""
        free = update(IncidentRow).where(
            IncidentRow.id == incident_id, IncidentRow.taken_by.is_(None)
        )
        named = {"taken_by": by, "taken_account": account, "taken_at": func.clock_timestamp()}
        done = await self._session.execute(free.values(named))
        return bool(done.rowcount)  # type: ignore[attr-defined]

    async def taken(self, incident_id: str) -> Word | None:
        """Whose name stands on it."""
        row = await self._taken(incident_id)
        return None if row is None else Word(row.taken_by, row.taken_at)

    async def taken_account(self, incident_id: str) -> str | None:
        """The account of whoever took it, `platform:account`."""
        row = await self._taken(incident_id)
        return None if row is None else str(row.taken_account)

    async def _taken(self, incident_id: str) -> Any:
        asked = select(IncidentRow.taken_by, IncidentRow.taken_account, IncidentRow.taken_at)
        named = asked.where(IncidentRow.id == incident_id, IncidentRow.taken_by.is_not(None))
        return (await self._session.execute(named)).one_or_none()

    async def seats(self, client_id: str, fingerprints: Iterable[str]) -> list[Seat]:
        """Every place these fingerprints have, in whatever incident."""
        asked = {"client_id": client_id, "fingerprints": json.dumps(sorted(fingerprints))}
        return [seat_of(row) for row in await self._session.execute(sql.SEATS, asked)]

    async def recall(
        self,
        client_id: str,
        group_ids: Iterable[str],
        now: datetime,
        idle_s: float,
        window_s: float,
    ) -> Recalled:
        """What is remembered of these groups.

        Raises:
            RecallError: the store could not answer; the transaction goes on.
        """
        asked = {
            "client_id": client_id,
            "groups": json.dumps(sorted(group_ids)),
            "active_since": now - timedelta(seconds=idle_s),
            "since": now - timedelta(seconds=window_s),
            "flips": FLIPS,
        }
        try:
            async with self._session.begin_nested():
                return await self._recall(asked)
        except DBAPIError as error:
            raise RecallError(type(error).__name__) from error

    async def _recall(self, asked: Mapping[str, object]) -> Recalled:
        incidents: dict[str, tuple[str, ...]] = {}
        for row in await self._session.execute(sql.HOMES, asked):
            incidents[row.group_id] = (*incidents.get(row.group_id, ()), row.incident_id)
        flips: dict[str, list[Flip]] = {}
        for row in await self._session.execute(sql.FLIPS, asked):
            flips.setdefault(row.group_id, []).append(flip_of(row))
        earlier = await self._session.execute(sql.EARLIER, asked)
        return Recalled(
            incidents=incidents,
            flips={group: tuple(some) for group, some in flips.items()},
            earlier={row.group_id: row.incidents for row in earlier},
        )

    async def joinable(self, client_id: str, now: datetime, late_s: float) -> list[str]:
        """Open incidents that may take alerts in: in their window, or opened within `late_s`."""
        found = await self._session.execute(
            sql.JOINABLE,
            {
                "client_id": client_id,
                "now": now,
                "opened_since": now - timedelta(seconds=late_s),
                "limit": OPEN_AT_ONCE,
            },
        )
        return [row.id for row in found]

    async def load(
        self,
        incident_ids: Iterable[str],
        *,
        fingerprints: Iterable[str] = (),
        sample: int | None = SAMPLE,
    ) -> list[Standing]:
        """Incidents with a sample of their members, these fingerprints always among them."""
        ids = sorted(set(incident_ids))
        if not ids:
            return []
        table = IncidentRow.__table__
        rows = await self._session.execute(select(table).where(table.c.id.in_(ids)))
        members: dict[str, list[Any]] = {}
        asked = {"ids": ids, "fingerprints": sorted(fingerprints), "sample": sample}
        for row in await self._session.execute(sql.MEMBERS, asked):
            members.setdefault(row.incident_id, []).append(row)
        group_ids = sorted({row.group_id for held in members.values() for row in held})
        groups = (await self._session.execute(sql.GROUPS_OF, {"ids": group_ids})).all()
        counted = (await self._session.execute(sql.COUNTS, asked)).all()

        def standing() -> list[Standing]:
            return standings(rows.all(), members, groups, counted)

        # A storm's thousands of members would hold up every webhook while they are read.
        if sum(len(held) for held in members.values()) > MANY:
            return await asyncio.to_thread(standing)
        return standing()

    async def open_for_client(self, client_id: str) -> list[Incident]:
        """Every open incident of a client, the oldest first."""
        open_ids = select(IncidentRow.id).where(
            IncidentRow.client_id == client_id, IncidentRow.state == IncidentState.OPEN.value
        )
        ids = (await self._session.execute(open_ids)).scalars().all()
        standings = await self.load(ids, sample=None)
        return sorted((s.incident for s in standings), key=lambda i: i.number)

    async def neighbours(self, incident: Incident, since: datetime) -> list[NeighbourRow]:
        """Other incidents of the client active since then; drills and the incident excluded."""
        found = await self._session.execute(
            sql.NEIGHBOURS,
            {
                "client_id": incident.client_id,
                "drill": DRILL_CLIENT,
                "id": incident.id,
                "since": since,
            },
        )
        return [NeighbourRow.model_validate(row._asdict()) for row in found]

    async def blind(self, client_id: str) -> list[str]:
        """Open incidents whose last finding a silent backend spoilt, not looked at again yet."""
        found = await self._session.execute(sql.BLIND, {"client_id": client_id})
        return list(found.scalars())

    async def look_again(self, incident_id: str, now: datetime) -> None:
        """Remember that it is investigated again because a backend came back."""
        await self._session.execute(sql.LOOK_AGAIN, {"id": incident_id, "now": now})

    async def judged(self, incident: Incident, at: datetime, scopes: Iterable[str]) -> None:
        """Remember what a judgement had seen; recurrences count from here."""
        await self._session.execute(
            sql.JUDGED,
            {
                "id": incident.id,
                "at": at,
                "severity": incident.severity.value,
                "rules": sorted({g.rule for g in incident.groups}),
                "scopes": sorted(scopes),
            },
        )

    async def save(
        self, client_id: str, saved: Sequence[Saved], events: Mapping[str, int]
    ) -> list[Saved]:
        """Keep incidents and their changed members; new ones come back with their number.

        Args:
            client_id: whose they are.
            saved: the incidents; members that did not change are left alone.
            events: the newest event of each changed member, by fingerprint.
        """
        numbered = await self._numbered(client_id, saved)
        rows = [incident_columns(s.incident) for s in numbered]
        if rows:
            statement = insert(IncidentRow)
            update = {
                name: statement.excluded[name]
                for name in rows[0]
                if name not in {"id", "client_id", "number", "opened_at"}
            }
            upsert = statement.on_conflict_do_update(index_elements=[IncidentRow.id], set_=update)
            await self._session.execute(upsert, rows)
        await self._keep_members(client_id, numbered, events)
        for one in numbered:
            await self._absorb(one)
        return numbered

    async def _numbered(self, client_id: str, saved: Sequence[Saved]) -> list[Saved]:
        born = sum(s.born for s in saved)
        number = 0
        if born:
            asked = {"client_id": client_id, "count": born}
            number = (await self._session.execute(sql.NUMBERS, asked)).scalar_one()
        numbered = []
        for one in saved:
            if one.born:
                incident = one.incident.model_copy(update={"number": number})
                numbered.append(one.model_copy(update={"incident": incident}))
                number += 1
            else:
                numbered.append(one)
        return numbered

    async def _keep_members(
        self, client_id: str, saved: Sequence[Saved], events: Mapping[str, int]
    ) -> None:
        rows = member_rows(saved, events)
        if rows:
            asked = {"client_id": client_id, "rows": json.dumps(rows)}
            await self._session.execute(sql.KEEP_MEMBERS, asked)

    async def _absorb(self, saved: Saved) -> None:
        for other in saved.absorbed:
            await self._session.execute(
                sql.ABSORB,
                {
                    "into": saved.incident.id,
                    "from_id": other.incident_id,
                    "reason": other.reason.value,
                    "shared": json.dumps(dict(other.shared)),
                },
            )

    async def split(self, incident_id: str, into_id: str, group_id: str) -> None:
        """Move the members of one group to another incident."""
        asked = {"from_id": incident_id, "into": into_id, "group_id": group_id}
        await self._session.execute(sql.SPLIT, asked)

    async def part(self, merged_id: str, from_id: str) -> None:
        """Give a merged incident back what the other took over from it, as it stands now."""
        asked = {"merged": merged_id, "other": from_id}
        await self._session.execute(sql.GIVE_BACK, asked)
        await self._session.execute(sql.LET_GO, asked)

    async def keep_flips(self, client_id: str, flips: Sequence[Flip]) -> None:
        """Append transitions, in their order."""
        if not flips:
            return
        await self._session.execute(
            sql.KEEP_FLIPS,
            {
                "client_id": client_id,
                "rows": json.dumps([f.model_dump(mode="json") for f in flips]),
            },
        )

    async def slide(self, client_id: str, newest: Mapping[str, Newest], now: datetime) -> None:
        """Move the last sight of members that still fire."""
        if not newest:
            return
        rows = [{"fingerprint": f, "event_id": newest[f].event_id} for f in sorted(newest)]
        found = await self._session.execute(
            sql.SLIDE, {"client_id": client_id, "now": now, "rows": json.dumps(rows)}
        )
        ids = sorted({row.incident_id for row in found})
        await self._session.execute(sql.ACTIVE, {"now": now, "ids": ids})

    async def green_due(self, client_id: str, now: datetime) -> list[str]:
        """Flapping incidents whose quiet time is over."""
        asked = {"client_id": client_id, "now": now}
        return [row.id for row in await self._session.execute(sql.GREEN_DUE, asked)]

    async def without_news(self, client_id: str, since: datetime) -> list[str]:
        """Open incidents without activity since then."""
        asked = {"client_id": client_id, "since": since}
        return [row.id for row in await self._session.execute(sql.WITHOUT_NEWS, asked)]

    async def close(self, client_id: str, incident_ids: Sequence[str], now: datetime) -> None:
        """Close incidents and call their firing members stale."""
        asked = {"client_id": client_id, "ids": list(incident_ids), "now": now}
        await self._session.execute(sql.CLOSE, asked)
