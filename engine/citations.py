"""What claims cite, and whether it exists and says anything. Pure."""

from collections.abc import Iterable, Sequence

from engine.model.evidence import QueryOutcome
from engine.model.finding import CheckResult, Claim, ClaimRuling, Ruling
from engine.model.ledger import LedgerEntry
from engine.model.pack import Pack, PriorFacts


def known_ids(
    pack: Pack, results: Sequence[CheckResult] = (), ledger: Sequence[LedgerEntry] = ()
) -> frozenset[str]:
    """Every evidence id there is: in the pack, the ledger or the round."""
    asked: list[LedgerEntry | CheckResult] = [*ledger, *results]
    return frozenset([*(item.id for item in pack.items), *(one.id for one in asked)])


def telling_ids(
    pack: Pack, results: Sequence[CheckResult] = (), ledger: Sequence[LedgerEntry] = ()
) -> frozenset[str]:
    """Ids that can bear a ruling: not what was not fetched, and not how another case ended."""
    asked: list[LedgerEntry | CheckResult] = [*ledger, *results]
    silent = {one.id for one in asked if one.outcome is not QueryOutcome.FETCHED}
    priors = {item.id for item in pack.items if isinstance(item.facts, PriorFacts)}
    return known_ids(pack, results, ledger) - silent - priors


def valid_citations(claims: Iterable[Claim], known: frozenset[str]) -> int:
    """Count the distinct ids of `claims` that exist; foreign ones stay visible and do not count."""
    return len({id_ for claim in claims for id_ in claim.evidence_ids} & known)


def backed(rulings: Iterable[ClaimRuling], telling: frozenset[str]) -> tuple[ClaimRuling, ...]:
    """Take back every ruling that rests on nothing that could bear it."""
    return tuple(_backed(ruling, telling) for ruling in rulings)


def _backed(ruling: ClaimRuling, telling: frozenset[str]) -> ClaimRuling:
    # A contradiction comes from what the ruling cites. Support may also rest on the claim's own.
    cited = set(ruling.evidence_ids)
    if ruling.ruling is Ruling.SUPPORTED:
        cited |= set(ruling.claim.evidence_ids)
    return ruling if cited & telling else ruling.model_copy(update={"ruling": Ruling.NEITHER})


def unsupported(rulings: Iterable[ClaimRuling]) -> tuple[str, ...]:
    """Give the claims the evidence did not back, in order."""
    return tuple(r.claim.text for r in rulings if r.ruling is not Ruling.SUPPORTED)
