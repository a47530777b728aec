"""Resolution stubs and their embeddings; likeness is searched exactly."""

from collections.abc import Sequence

from sqlalchemy import select, text
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from engine.model.memory import Near, Stub, StubState
from storage.tables import StubRow

_SEARCHES = text("select to_regclass('stub_embeddings') is not null")
_EMBED = text("""
    insert into stub_embeddings (stub_id, embedding, vector)
    values (:stub_id, :embedding, cast(:vector as vector))
    on conflict (stub_id, embedding) do update set vector = excluded.vector
""")
_NEAREST = text("""
    select s.body, e.vector <=> cast(:vector as vector) as distance
    from stub_embeddings e join resolution_stubs s on s.id = e.stub_id
    where s.client_id = :client_id and e.embedding = :embedding and s.state = 'approved'
      and s.fixed_at is not null
      and not exists (
          select from transitions t join alert_groups g on g.id = t.group_id
          where g.client_id = s.client_id and g.family_key = s.family_key
            and t.to_state = 'firing' and t.at > s.fixed_at
            and t.at <= s.fixed_at + make_interval(secs => :held_s))
      and e.vector <=> cast(:vector as vector) <= :most
    order by distance, s.id limit :limit
""")


class StubRows:
    """What was learned."""

    def __init__(self, session: AsyncSession) -> None:
        """Speak through an open session."""
        self._session = session

    async def keep(self, stub: Stub) -> None:
        """Keep a stub as it is now."""
        row = {
            "client_id": stub.client_id,
            "family_key": stub.family_key,
            "state": stub.state.value,
            "fixed_at": stub.fixed_at,
            "body": stub.model_dump(mode="json"),
        }
        kept = insert(StubRow).values(id=stub.id, **row)
        await self._session.execute(
            kept.on_conflict_do_update(index_elements=[StubRow.id], set_=row)
        )

    async def get(self, stub_id: str) -> Stub | None:
        """One stub."""
        found = select(StubRow.body).where(StubRow.id == stub_id)
        body = (await self._session.execute(found)).scalar_one_or_none()
        return None if body is None else Stub.model_validate(body)

    async def failed(self, stub_id: str) -> None:
        """Remember that its fix did not work again; it is not held from now on."""
        stub = await self.get(stub_id)
        if stub is not None:
            await self.keep(stub.model_copy(update={"state": StubState.FAILED}))

    async def embed(self, stub_id: str, embedding: str, vector: Sequence[float]) -> None:
        """Keep a stub's symptom as a vector of one embedding; vectors of two are never compared.

        Raises:
            LookupError: this database cannot search by likeness.
        """
        if not await self._searches():
            raise LookupError("pgvector is not there")
        values = {"stub_id": stub_id, "embedding": embedding, "vector": _literal(vector)}
        await self._session.execute(_EMBED, values)

    async def nearest(
        self,
        client_id: str,
        embedding: str,
        vector: Sequence[float],
        *,
        most: float,
        held_s: float,
        limit: int = 1,
    ) -> list[Near]:
        """Stubs that hold and are no farther than `most`, the nearest first.

        A stub holds when it is approved, was not marked failed, and its family did not come
        again within `held_s` after its fix.
        """
        if not await self._searches():
            return []
        values = {
            "client_id": client_id,
            "embedding": embedding,
            "vector": _literal(vector),
            "most": most,
            "held_s": held_s,
            "limit": limit,
        }
        rows = await self._session.execute(_NEAREST, values)
        return [Near(stub=Stub.model_validate(r.body), distance=r.distance) for r in rows]

    async def _searches(self) -> bool:
        return bool((await self._session.execute(_SEARCHES)).scalar_one())


def _literal(vector: Sequence[float]) -> str:
    return f"[{','.join(map(repr, map(float, vector)))}]"
