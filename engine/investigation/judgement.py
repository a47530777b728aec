"""Call 2's reply set against the draft: what became of the cause and of every claim."""

from collections.abc import Iterator

from engine.citations import backed
from engine.investigation.reply import RuledCause, RuledClaim
from engine.model.finding import (
    CauseKey,
    Claim,
    ClaimRuling,
    Draft,
    Judgement,
    MemoryVerdict,
    Ruling,
)


def replaced(draft: CauseKey | None, final: CauseKey | None) -> bool:
    """Whether another cause is held than before. Keys are compared, never prose."""
    return final is not None and (draft is None or _comparable(draft) != _comparable(final))


def _comparable(key: CauseKey) -> tuple[str, str]:
    return " ".join(key.component.casefold().split()), key.cause_class


def judgement_of(ruled: RuledCause, draft: Draft, telling: frozenset[str]) -> Judgement:
    """Bring a reply into the engine's value.

    A claim that carried the draft's cause still carries it while the cause is the same, and counts
    as not ruled on when the reply left it out. A ruling needs evidence that can bear it.
    """
    new_cause = replaced(draft.root_cause_key, ruled.key)
    rulings = tuple(_rulings(ruled, draft, new_cause=new_cause))
    return Judgement(
        root_cause=ruled.root_cause or None,
        root_cause_key=ruled.key,
        rulings=backed(rulings, telling),
        judged_confidence=ruled.confidence,
        memory_verdict=ruled.memory_verdict or MemoryVerdict.SILENT,
        missing=ruled.missing,
        next_step=ruled.next_step,
        operator_ruling=ruled.correction.ruling,
        operator_evidence_ids=ruled.correction.cites,
    )


def _rulings(ruled: RuledCause, draft: Draft, *, new_cause: bool) -> Iterator[ClaimRuling]:
    numbered: set[int] = set()
    for said in ruled.rulings:
        base = _claim_of(said, draft)
        if base is not None and said.claim is not None:
            numbered.add(said.claim)
        claim = _claim(said, base, new_cause=new_cause)
        if claim is not None:
            yield ClaimRuling(claim=claim, ruling=said.ruling, evidence_ids=said.cites)
    for number, claim in enumerate(draft.claims, start=1):
        if number not in numbered and not new_cause:
            yield ClaimRuling(claim=claim, ruling=Ruling.NEITHER)


def _claim_of(said: RuledClaim, draft: Draft) -> Claim | None:
    """Find the draft's claim a ruling speaks of by its number."""
    if said.claim is not None and 1 <= said.claim <= len(draft.claims):
        return draft.claims[said.claim - 1]
    return None


def _claim(said: RuledClaim, base: Claim | None, *, new_cause: bool) -> Claim | None:
    if base is None:
        if not said.text:
            return None
        return Claim(text=said.text, evidence_ids=said.cites, key=said.key)
    key = said.key or (base.key and not new_cause)
    return base.model_copy(update={"text": said.text or base.text, "key": key})


def unruled(draft: Draft) -> tuple[ClaimRuling, ...]:
    """Give the draft's claims as they stand when nothing ruled on them."""
    return tuple(ClaimRuling(claim=claim, ruling=Ruling.NEITHER) for claim in draft.claims)
