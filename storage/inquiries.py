"""Questions people asked in rooms."""

from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from engine.model.inquiry import Answered, Inquiry
from storage.findings import FindingRows
from storage.rooms import RoomRows
from storage.runs import RunRows
from storage.tables import AlertGroupRow, InquiryRow

MOST_SCOPES = 500


class InquiryRows:
    """Inquiries by their id."""

    def __init__(self, session: AsyncSession) -> None:
        """Speak through an open session."""
        self._session = session

    async def save(self, inquiry: Inquiry) -> None:
        """Keep where it stands now."""
        row = {
            "client_id": inquiry.client_id,
            "room_id": inquiry.room_id,
            "account": inquiry.account,
            "state": inquiry.state.value,
            "body": inquiry.model_dump(mode="json"),
        }
        kept = insert(InquiryRow).values(id=inquiry.id, asked_at=inquiry.asked_at, **row)
        await self._session.execute(
            kept.on_conflict_do_update(index_elements=[InquiryRow.id], set_=row)
        )

    async def get(self, inquiry_id: str) -> Inquiry | None:
        """One question."""
        asked = select(InquiryRow.body).where(InquiryRow.id == inquiry_id)
        body = (await self._session.execute(asked)).scalar_one_or_none()
        return None if body is None else Inquiry.model_validate(body)

    async def alone(self, inquiry_id: str) -> Inquiry | None:
        """One question, decided about alone until the transaction ends."""
        asked = select(InquiryRow.body).where(InquiryRow.id == inquiry_id).with_for_update()
        body = (await self._session.execute(asked)).scalar_one_or_none()
        return None if body is None else Inquiry.model_validate(body)

    async def by_account(self, account: str, since: datetime) -> int:
        """How many an account asked since then."""
        asked = select(func.count()).where(
            InquiryRow.account == account, InquiryRow.asked_at >= since
        )
        return int((await self._session.execute(asked)).scalar_one())

    async def scopes_seen(self, client_id: str) -> list[dict[str, str]]:
        """Scopes of the client's alerts: names people know from its cards."""
        newest = (
            select(AlertGroupRow.scope)
            .where(AlertGroupRow.client_id == client_id)
            .order_by(AlertGroupRow.created_at.desc())
            .limit(MOST_SCOPES)
        )
        return [dict(scope) for scope in (await self._session.execute(newest)).scalars()]

    async def answered(self, inquiry_id: str) -> Answered | None:
        """A question with all that is known of it."""
        inquiry = await self.get(inquiry_id)
        if inquiry is None:
            return None
        run = await RunRows(self._session).newest(inquiry_id)
        found = await FindingRows(self._session).of_triage(run.triage_id) if run else None
        clients = await RoomRows(self._session).clients_of(inquiry.room_id)
        return Answered(inquiry=inquiry, run=run, finding=found, names_client=len(clients) > 1)
