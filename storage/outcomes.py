"""What people said of findings. Append-only; the newest word on a finding counts."""

from sqlalchemy import text
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from engine.desk.ports import Word
from engine.model.review import FamilyRecord, Given, Label, Said, Verdict
from storage.tables import VerdictRow

_NEWEST = """
    select distinct on (triage_id) triage_id, said, shown, verdict <> 'wrong' as held
    from verdicts
    where names_cause and verdict in ('right', 'wrong', 'fix-worked') and {where}
    order by triage_id, verdict = 'fix-worked', id desc
"""
"""What is said of the cause itself weighs more than that a fix worked."""
_LABELS = text(f"""
    select said, shown, held from ({_NEWEST.format(where="model = :model")}) newest
    where said is not null and shown is not null order by triage_id
""")  # noqa: S608 - our own words
_MODELS = text("""
    select distinct model from verdicts where names_cause and said is not null order by model
""")
_STANDS = text("""
    select by, at, verdict, cause from verdicts where triage_id = :triage_id
    order by id desc limit 1
""")
_RECORD = text(f"""
    select count(*) filter (where held) as held, count(*) as of
    from ({_NEWEST.format(where="client_id = :client_id and family_key = :family_key")}) newest
""")  # noqa: S608 - our own words


class OutcomeRows:
    """Verdicts, and the labels they make."""

    def __init__(self, session: AsyncSession) -> None:
        """Speak through an open session."""
        self._session = session

    async def keep(self, given: Given) -> None:
        """Keep a verdict."""
        await self._session.execute(insert(VerdictRow).values(given.model_dump(mode="json")))

    async def newest(self, triage_id: str, verdict: Verdict) -> Word | None:
        """Whose verdict stands on a finding, when it is this one."""
        said = await self.standing(triage_id)
        return Word(said.by, said.at) if said is not None and said.verdict is verdict else None

    async def standing(self, triage_id: str) -> Said | None:
        """The verdict that stands on a finding."""
        row = (await self._session.execute(_STANDS, {"triage_id": triage_id})).one_or_none()
        if row is None:
            return None
        return Said(verdict=Verdict(row.verdict), by=row.by, at=row.at, cause=row.cause or "")

    async def labels(self, model: str) -> list[Label]:
        """Every finding of a model that has a known outcome, once."""
        rows = await self._session.execute(_LABELS, {"model": model})
        return [Label(said=row.said, shown=row.shown, held=row.held) for row in rows]

    async def models(self) -> list[str]:
        """Every model some verdict is about, by name."""
        return list((await self._session.execute(_MODELS)).scalars())

    async def record(self, client_id: str, family_key: str) -> FamilyRecord | None:
        """How the verdicts on a family came out; None before the first."""
        asked = {"client_id": client_id, "family_key": family_key}
        row = (await self._session.execute(_RECORD, asked)).one()
        return FamilyRecord(held=row.held, of=row.of) if row.of else None
