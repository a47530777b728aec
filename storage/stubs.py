"""Resolution stubs and their embeddings; likeness is searched exactly."""

from collections.abc import Mapping, Sequence

from sqlalchemy import select, text
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from engine.model.memory import Near, Stub, StubState
from storage.fulltext import BY_LENGTH, WEIGHTS, as_tsquery, as_tsvector
from storage.tables import StubRow

_SEARCHES = text("select to_regclass('stub_embeddings') is not null")
_EMBED = text("""
    insert into stub_embeddings (stub_id, embedding, vector, words)
    values (:stub_id, :embedding, cast(:vector as vector), cast(:words as tsvector))
    on conflict (stub_id, embedding) do update
        set vector = excluded.vector, words = excluded.words
""")
_BROKEN = """
    exists (
        select from transitions t join alert_groups g on g.id = t.group_id
        where g.client_id = s.client_id and g.family_key = s.family_key
          and t.to_state = 'firing' and t.at > s.fixed_at
          and t.at <= s.fixed_at + make_interval(secs => :held_s))
"""
"""The family of a stub came again too soon after its fix."""
_NEAREST = text(f"""
    select s.body, e.vector <=> cast(:vector as vector) as distance
    from stub_embeddings e join resolution_stubs s on s.id = e.stub_id
    where s.client_id = :client_id and e.embedding = :embedding and s.state = 'approved'
      and s.fixed_at is not null and not {_BROKEN}
      and e.vector <=> cast(:vector as vector) <= :most
    order by distance, s.id limit :limit
""")  # noqa: S608 - constants
_SOFTEN = 60
"""How little the first places of a ranking stand out when two are fused."""
_WORDS_COUNT = 0.6
"""What the ranking by words counts, where the one by vectors counts 1."""
_SIMILAR = text(f"""
    with compared as (
        select s.id, e.vector <=> cast(:vector as vector) as distance,
            ts_rank('{WEIGHTS}', e.words, cast(:words as tsquery), {BY_LENGTH}) as shared
        from stub_embeddings e join resolution_stubs s on s.id = e.stub_id
        where s.client_id = :client_id and e.embedding = :embedding and s.state = 'approved'
    ), placed as (
        select id, distance, coalesce(shared, 0) as shared,
            row_number() over (order by distance, id) as by_vector,
            row_number() over (order by shared desc nulls last, id) as by_words
        from compared
    )
    select s.body, p.distance, s.fixed_at is not null and not {_BROKEN} as held
    from placed p join resolution_stubs s on s.id = p.id
    where p.distance <= :most
    order by 1.0 / ({_SOFTEN} + p.by_vector)
        + case when p.shared > 0 then {_WORDS_COUNT} / ({_SOFTEN} + p.by_words) else 0 end desc,
        p.distance, s.id
    limit :limit
""")  # noqa: S608 - constants
_UNEMBEDDED = text("""
    select s.body from resolution_stubs s
    where s.state = 'approved' and not exists (
        select from stub_embeddings e where e.stub_id = s.id and e.embedding = :embedding)
    order by s.made_at, s.id limit :limit
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
        stub = await self.get(stub_id)
        values = {
            "stub_id": stub_id,
            "embedding": embedding,
            "vector": _literal(vector),
            "words": as_tsvector(stub.symptom) if stub else "",
        }
        await self._session.execute(_EMBED, values)

    async def unembedded(self, embedding: str, limit: int) -> list[Stub]:
        """Approved stubs without a vector of this embedding, oldest first; none without vectors."""
        if not await self._searches():
            return []
        asked = {"embedding": embedding, "limit": limit}
        rows = await self._session.execute(_UNEMBEDDED, asked)
        return [Stub.model_validate(row.body) for row in rows]

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
        asked = _asked(client_id, embedding, vector, most, held_s, limit)
        rows = await self._session.execute(_NEAREST, asked)
        return [Near(stub=Stub.model_validate(r.body), distance=r.distance) for r in rows]

    async def similar(
        self,
        client_id: str,
        symptom: str,
        embedding: str,
        vector: Sequence[float],
        *,
        most: float,
        held_s: float,
        limit: int,
    ) -> list[Near] | None:
        """Approved stubs by likeness of vector and of words together, the most alike first.

        Every stub is compared, so none is missed. None: this database cannot search by likeness.
        """
        if not await self._searches():
            return None
        asked = _asked(client_id, embedding, vector, most, held_s, limit)
        rows = await self._session.execute(_SIMILAR, {**asked, "words": as_tsquery(symptom)})
        return [
            Near(stub=Stub.model_validate(r.body), distance=r.distance, held=r.held) for r in rows
        ]

    async def _searches(self) -> bool:
        return bool((await self._session.execute(_SEARCHES)).scalar_one())


def _asked(
    client_id: str,
    embedding: str,
    vector: Sequence[float],
    most: float,
    held_s: float,
    limit: int,
) -> Mapping[str, str | float]:
    return {
        "client_id": client_id,
        "embedding": embedding,
        "vector": _literal(vector),
        "most": most,
        "held_s": held_s,
        "limit": limit,
    }


def _literal(vector: Sequence[float]) -> str:
    """Write a vector as pgvector reads it; it keeps four bytes of each number anyway."""
    return f"[{','.join(f'{value:.7g}' for value in vector)}]"
