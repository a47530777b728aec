"""Packs and findings, byte for byte; neither is ever changed."""

from sqlalchemy import Select, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from engine.model.base import Frozen
from engine.model.finding import Finding
from engine.model.incident import IncidentState
from engine.model.pack import Pack
from storage.tables import AlertGroupRow, FactSheetRow, FindingRow, IncidentRow, MemberRow, PackRow


class Told(Frozen):
    """A pack in the bytes it is kept in."""

    body: str
    frozen: bool
    """False: nobody was asked yet, and what is known may still grow."""


class FindingRows:
    """What was known and what was made of it."""

    def __init__(self, session: AsyncSession) -> None:
        """Speak through an open session."""
        self._session = session

    async def keep_pack(self, pack: Pack) -> None:
        """Keep a frozen pack; the same pack again is the same row."""
        row = {
            "hash": pack.hash,
            "client_id": pack.anchor.client_id,
            "incident_id": pack.anchor.incident_id,
            "revision": pack.revision,
            "body": pack.canonical(),
        }
        await self._session.execute(insert(PackRow).values(row).on_conflict_do_nothing())

    async def show_facts(self, pack: Pack, *, complete: bool) -> None:
        """Keep the pack as far as it has come; what was whole is never replaced by a part."""
        values = {
            "client_id": pack.anchor.client_id,
            "body": pack.canonical(),
            "complete": complete,
        }
        statement = insert(FactSheetRow).values(incident_id=pack.anchor.incident_id, **values)
        whole = None if complete else FactSheetRow.complete.is_(False)
        await self._session.execute(
            statement.on_conflict_do_update(
                index_elements=[FactSheetRow.incident_id], set_=values, where=whole
            )
        )

    async def fact_sheet(self, incident_id: str) -> Pack | None:
        """What the facts card shows of an incident."""
        row = await self._session.get(FactSheetRow, incident_id, populate_existing=True)
        return None if row is None else Pack.model_validate_json(row.body)

    async def pack(self, hash_: str) -> Pack | None:
        """The pack a finding names."""
        row = await self._session.get(PackRow, hash_)
        return None if row is None else Pack.model_validate_json(row.body)

    async def told_of_group(self, group_id: str, client_id: str | None) -> Told | None:
        """What the newest incident that holds a group knows, in its stored bytes.

        The newest frozen pack, or the fact sheet until there is one. A client's id leaves every
        other client's groups out.
        """
        holder = _holding(group_id, client_id)
        incident_id = (await self._session.execute(holder)).scalar_one_or_none()
        if incident_id is None:
            return None
        frozen = await self._frozen(incident_id)
        if frozen is not None:
            return Told(body=frozen, frozen=True)
        sheet = await self._session.get(FactSheetRow, incident_id, populate_existing=True)
        return None if sheet is None else Told(body=sheet.body, frozen=False)

    async def keep(self, finding: Finding) -> None:
        """Keep a finding; one per triage, and the first one stays."""
        row = {
            "triage_id": finding.triage_id,
            "client_id": finding.client_id,
            "incident_id": finding.incident_id,
            "disposition": finding.disposition.value,
            "trust_level": finding.trust_level.value,
            "verify_status": finding.verify_status.value,
            "confidence": finding.confidence,
            "triage_groundedness": finding.groundedness,
            "blind": finding.round is not None and finding.round.blind,
            "body": finding.canonical(),
        }
        await self._session.execute(insert(FindingRow).values(row).on_conflict_do_nothing())

    async def of_triage(self, triage_id: str) -> Finding | None:
        """What a triage came to."""
        return await self._one(select(FindingRow.body).where(FindingRow.triage_id == triage_id))

    async def newest(self, incident_id: str) -> Finding | None:
        """The newest finding of an incident."""
        found = select(FindingRow.body).where(FindingRow.incident_id == incident_id)
        return await self._one(_newest(found))

    async def newest_of_family(
        self, client_id: str, family_key: str, *, other_than: str | None = None
    ) -> Finding | None:
        """The newest finding on any incident that held this family, one of them left out."""
        held = (
            select(MemberRow.incident_id)
            .join(AlertGroupRow, AlertGroupRow.id == MemberRow.group_id)
            .where(AlertGroupRow.client_id == client_id, AlertGroupRow.family_key == family_key)
        )
        found = select(FindingRow.body).where(
            FindingRow.client_id == client_id,
            FindingRow.incident_id.in_(held),
            FindingRow.incident_id.is_distinct_from(other_than),
        )
        return await self._one(_newest(found))

    async def _frozen(self, incident_id: str) -> str | None:
        rows = select(PackRow.body).where(PackRow.incident_id == incident_id)
        newest = rows.order_by(PackRow.frozen_at.desc(), PackRow.revision.desc()).limit(1)
        return (await self._session.execute(newest)).scalar_one_or_none()

    async def _one(self, bodies: Select[str]) -> Finding | None:
        body = (await self._session.execute(bodies)).scalar_one_or_none()
        return None if body is None else Finding.model_validate_json(body)


def _holding(group_id: str, client_id: str | None) -> Select[str]:
    """The newest incident that holds a group; a merged one gave its members away."""
    held = select(MemberRow.incident_id).where(MemberRow.group_id == group_id)
    found = select(IncidentRow.id).where(
        IncidentRow.id.in_(held), IncidentRow.state != IncidentState.MERGED.value
    )
    if client_id is not None:
        found = found.where(IncidentRow.client_id == client_id)
    return found.order_by(IncidentRow.opened_at.desc(), IncidentRow.number.desc()).limit(1)


def _newest(bodies: Select[str]) -> Select[str]:
    return bodies.order_by(FindingRow.created_at.desc()).limit(1)
