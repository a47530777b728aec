"""What people have to look at: one open item a family, closed by a verdict or by time."""

from collections.abc import Mapping

from sqlalchemy import func, select, text
from sqlalchemy.ext.asyncio import AsyncSession

from engine.model.incident import Incident
from engine.model.review import ReviewItem, ReviewReason
from storage.tables import AlertGroupRow, IncidentRow, ReviewItemRow

EXPIRED = "expired"
_OPEN = text("""
    insert into review_items (client_id, family_key, incident_id, triage_id, reason)
    values (:client_id, :family_key, :incident_id, :triage_id, :reason)
    on conflict (client_id, family_key) where closed_at is null do update set
        incident_id = excluded.incident_id, triage_id = excluded.triage_id,
        reason = excluded.reason, seen = review_items.seen + 1
    returning seen
""")
_CLOSE = text("""
    update review_items set closed_at = clock_timestamp(), closed_by = :by
    where client_id = :client_id and family_key = :family_key and closed_at is null
""")
_EXPIRE = text("""
    update review_items set closed_at = clock_timestamp(), closed_by = :by
    where closed_at is null and opened_at <= clock_timestamp() - make_interval(secs => :after_s)
    returning id
""")


class ReviewRows:
    """The list of what people have to look at."""

    def __init__(self, session: AsyncSession) -> None:
        """Speak through an open session."""
        self._session = session

    async def open(self, incident: Incident, reason: ReviewReason, triage_id: str | None) -> bool:
        """Open an item of the incident's family, or renew its open one; False when renewed."""
        values = {
            "client_id": incident.client_id,
            "family_key": incident.group_of(incident.lead).family_key,
            "incident_id": incident.id,
            "triage_id": triage_id,
            "reason": reason.value,
        }
        seen = (await self._session.execute(_OPEN, values)).scalar_one()
        return bool(seen == 1)

    async def close(self, client_id: str, family_key: str, by: str) -> None:
        """Close the family's open item."""
        values = {"client_id": client_id, "family_key": family_key, "by": by}
        await self._session.execute(_CLOSE, values)

    async def expire(self, after_s: float) -> int:
        """Close what has been open so long; gives how many."""
        gone = await self._session.execute(_EXPIRE, {"after_s": after_s, "by": EXPIRED})
        return len(gone.all())

    async def counts(self) -> Mapping[ReviewReason, int]:
        """Open items by reason."""
        counted = (
            select(ReviewItemRow.reason, func.count())
            .where(ReviewItemRow.closed_at.is_(None))
            .group_by(ReviewItemRow.reason)
        )
        rows = await self._session.execute(counted)
        return {ReviewReason(reason): number for reason, number in rows.all()}

    async def listed(
        self, client_id: str | None = None, *, closed: bool = False, limit: int = 100
    ) -> list[ReviewItem]:
        """Items, the newest first; of every client when none is named."""
        found = (
            select(ReviewItemRow, IncidentRow.number, AlertGroupRow.rule)
            .join(IncidentRow, IncidentRow.id == ReviewItemRow.incident_id)
            .outerjoin(
                AlertGroupRow,
                (AlertGroupRow.client_id == ReviewItemRow.client_id)
                & (AlertGroupRow.family_key == ReviewItemRow.family_key),
            )
            .order_by(ReviewItemRow.opened_at.desc(), ReviewItemRow.id.desc())
            .limit(limit)
        )
        if client_id is not None:
            found = found.where(ReviewItemRow.client_id == client_id)
        if not closed:
            found = found.where(ReviewItemRow.closed_at.is_(None))
        rows = await self._session.execute(found)
        return [_item(kept, number, rule) for kept, number, rule in rows.all()]


def _item(kept: ReviewItemRow, number: int, rule: str | None) -> ReviewItem:
    own = {name: getattr(kept, name) for name in ReviewItem.model_fields if name not in _JOINED}
    return ReviewItem(**own, number=number, rule=rule or "?")


_JOINED = {"number", "rule"}
