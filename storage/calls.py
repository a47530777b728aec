"""Model calls: a row before each is sent, settled after; and what they add up to."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func, select, text, update
from sqlalchemy.ext.asyncio import AsyncSession

from engine.model.run import CallKind, CallState, ModelCall, Usage
from storage.tables import CallRow

_ONE_BY_ONE = text("select pg_advisory_xact_lock(hashtextextended('budget ' || :client_id, 0))")


@dataclass
class SpentToday:
    """Cost and tokens, added up."""

    usd: float
    tokens: int


def call_of(row: CallRow) -> ModelCall:
    """Read a call."""
    usage = {name: getattr(row, name) for name in Usage.model_fields}
    return ModelCall(
        id=row.id,
        client_id=row.client_id,
        triage_id=row.triage_id,
        kind=CallKind(row.kind),
        model=row.model,
        state=CallState(row.state),
        sent_at=row.sent_at,
        settled_at=row.settled_at,
        usage=Usage(**usage),
        cost_usd=row.cost_usd,
        held_usd=row.held_usd,
        held_tokens=row.held_tokens,
        error=row.error or "",
    )


class CallRows:
    """Calls of every triage."""

    def __init__(self, session: AsyncSession) -> None:
        """Speak through an open session."""
        self._session = session

    async def add(self, call: ModelCall, request: str) -> None:
        """Record a call about to be sent."""
        row = CallRow(
            id=call.id,
            client_id=call.client_id,
            triage_id=call.triage_id,
            kind=call.kind.value,
            model=call.model,
            state=call.state.value,
            request=storable(request),
            held_usd=call.held_usd,
            held_tokens=call.held_tokens,
            sent_at=call.sent_at,
        )
        self._session.add(row)
        await self._session.flush()

    async def settle(self, call: ModelCall, reply: str) -> None:
        """Record what came of it."""
        values = {
            "kind": call.kind.value,
            "state": call.state.value,
            "settled_at": call.settled_at,
            "reply": storable(reply),
            "error": storable(call.error) or None,
            "cost_usd": call.cost_usd,
            "held_usd": call.held_usd,
            "held_tokens": call.held_tokens,
            **call.usage.model_dump(),
        }
        await self._session.execute(update(CallRow).where(CallRow.id == call.id).values(values))

    async def answered(self, triage_id: str, kind: CallKind, request: str) -> str | None:
        """The reply of an earlier call of the run with the same request, if it got one."""
        same = select(CallRow.reply).where(
            CallRow.triage_id == triage_id,
            # A turn that asked for tools was settled as one of the loop.
            CallRow.kind.in_([kind.value, CallKind.LOOP.value]),
            CallRow.state == CallState.OK.value,
            CallRow.request == storable(request),
        )
        newest = same.order_by(CallRow.sent_at.desc()).limit(1)
        return (await self._session.execute(newest)).scalar_one_or_none()

    async def lost(self, triage_id: str) -> int:
        """Mark calls in flight when their process died; give how many there were."""
        in_flight = update(CallRow).where(
            CallRow.triage_id == triage_id, CallRow.state == CallState.SENT.value
        )
        marked = in_flight.values(state=CallState.UNKNOWN.value).returning(CallRow.id)
        return len((await self._session.execute(marked)).all())

    async def of_triage(self, triage_id: str) -> Sequence[ModelCall]:
        """Every call of a triage, oldest first."""
        rows = select(CallRow).where(CallRow.triage_id == triage_id)
        ordered = rows.order_by(CallRow.sent_at, CallRow.id)
        return [call_of(row) for row in (await self._session.execute(ordered)).scalars()]

    async def spent(self, client_id: str, since: datetime) -> SpentToday:
        """Cost and tokens of a client since then; calls of unknown price cost nothing here."""
        tokens = sum((getattr(CallRow, name) for name in Usage.model_fields), CallRow.held_tokens)
        usd = func.coalesce(CallRow.cost_usd, 0.0) + CallRow.held_usd
        sums = select(func.coalesce(func.sum(usd), 0.0), func.coalesce(func.sum(tokens), 0)).where(
            CallRow.client_id == client_id, CallRow.sent_at >= since
        )
        spent_usd, used = (await self._session.execute(sums)).one()
        return SpentToday(usd=float(spent_usd), tokens=int(used))

    async def spent_alone(self, client_id: str, since: datetime) -> SpentToday:
        """The same; others who ask for this client wait until this transaction ends."""
        await self._session.execute(_ONE_BY_ONE, {"client_id": client_id})
        return await self.spent(client_id, since)


def storable(text: str) -> str:
    """Replace what PostgreSQL cannot keep as text: NUL and half characters."""
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode()
