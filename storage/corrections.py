"""What people said was really the cause."""

from collections.abc import Sequence

from pydantic import AwareDatetime
from sqlalchemy import select, tuple_, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from engine.model.correction import Correction
from storage.tables import CorrectionRow


class CorrectionRows:
    """Corrections; of each family and rule the newest stands."""

    def __init__(self, session: AsyncSession) -> None:
        """Speak through an open session."""
        self._session = session

    async def capture(self, correction: Correction) -> bool:
        """Keep one; it supersedes what stood. False when it was kept before."""
        known = await self._session.get(CorrectionRow, correction.id)
        if known is not None:
            return False
        await self.retire(
            correction.client_id, correction.family_key, correction.rule, correction.at
        )
        row = {
            "id": correction.id,
            "client_id": correction.client_id,
            "family_key": correction.family_key,
            "rule": correction.rule,
            "captured_at": correction.at,
            "body": correction.canonical(),
        }
        await self._session.execute(insert(CorrectionRow).values(row))
        return True

    async def retire(self, client_id: str, family_key: str, rule: str, at: AwareDatetime) -> None:
        """End what stands: a person found that the bot was right after all."""
        await self._session.execute(
            update(CorrectionRow)
            .where(
                CorrectionRow.client_id == client_id,
                CorrectionRow.family_key == family_key,
                CorrectionRow.rule == rule,
                CorrectionRow.ended_at.is_(None),
            )
            .values(ended_at=at)
        )

    async def governing(self, client_id: str, held: Sequence[tuple[str, str]]) -> Correction | None:
        """The newest that stands for any of these families, each with its rule's name."""
        found = await self._session.execute(
            select(CorrectionRow.body)
            .where(
                CorrectionRow.client_id == client_id,
                tuple_(CorrectionRow.family_key, CorrectionRow.rule).in_(list(held)),
                CorrectionRow.ended_at.is_(None),
            )
            .order_by(CorrectionRow.captured_at.desc(), CorrectionRow.id.desc())
            .limit(1)
        )
        body = found.scalar_one_or_none()
        return None if body is None else Correction.model_validate_json(body)
