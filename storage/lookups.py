"""What investigations asked beyond their packs: each answer digested and whole."""

from collections.abc import Sequence

from sqlalchemy import func, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from engine.model.ledger import LedgerEntry
from engine.model.run import Run
from storage.calls import storable
from storage.tables import LookupRow


class LookupRows:
    """Answers of every run."""

    def __init__(self, session: AsyncSession) -> None:
        """Speak through an open session."""
        self._session = session

    async def add(self, run: Run, entry: LedgerEntry, whole: str) -> None:
        """Keep an answer; a run that begins anew replaces what stood under its id."""
        values = {
            "client_id": run.client_id,
            "entry": storable(entry.canonical()),
            "whole": storable(whole),
        }
        row = insert(LookupRow).values(
            triage_id=run.triage_id, number=int(entry.id.removeprefix("T")), **values
        )
        keys = [LookupRow.triage_id, LookupRow.number]
        again = {**values, "at": func.clock_timestamp()}
        await self._session.execute(row.on_conflict_do_update(index_elements=keys, set_=again))

    async def of_triage(self, triage_id: str) -> Sequence[LedgerEntry]:
        """Every answer of a run, in order."""
        rows = select(LookupRow.entry).where(LookupRow.triage_id == triage_id)
        found = (await self._session.execute(rows.order_by(LookupRow.number))).scalars()
        return [LedgerEntry.model_validate_json(entry) for entry in found]

    async def whole(self, triage_id: str, number: int) -> str | None:
        """All that a backend answered."""
        row = await self._session.get(LookupRow, (triage_id, number))
        return None if row is None else row.whole
