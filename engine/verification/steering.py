"""A person's correction in the round: the checks it brings, and what the judgement makes of it."""

from collections.abc import Sequence

from engine.investigation.session import Session
from engine.model.correction import CAUSE_SERIES, WIDENED, Correction, OperatorRuling, Steering
from engine.model.evidence import QueryOutcome
from engine.model.finding import CheckResult, CheckSource, Judgement
from engine.verification.kind import CheckKind
from engine.verification.table import CHECKS

MOST = 5
_NEEDS_A_PROBE = frozenset({OperatorRuling.SUPPORTED, OperatorRuling.CONTRADICTED})


async def governing(session: Session) -> Correction | None:
    """Find the correction that governs the incident: the newest of its families."""
    held = [(group.family_key, group.rule) for group in session.incident.groups]
    async with session.ports.store.begin() as tx:
        return await tx.corrections.governing(session.incident.client_id, held)


def steered(correction: Correction | None) -> list[tuple[CheckKind, str]]:
    """Give its checks, probes of the cause first, each once and five at most."""
    if correction is None:
        return []
    asked = [(CAUSE_SERIES, query) for query in correction.cause_series]
    asked += [(WIDENED, query) for query in correction.widened]
    once: dict[str, tuple[str, str]] = {}
    for kind, query in asked:
        once.setdefault(" ".join(query.split()), (kind, query))
    return [(CHECKS[kind], query) for kind, query in once.values()][:MOST]


def steering(
    correction: Correction | None, results: Sequence[CheckResult], judgement: Judgement | None
) -> Steering | None:
    """Say what became of a correction: a ruling counts only on a fetched probe of the cause."""
    if correction is None:
        return None
    ruling = OperatorRuling.UNRULED if judgement is None else judgement.operator_ruling
    cited = () if judgement is None else judgement.operator_evidence_ids
    backed = bool({result.id for result in results if _probed(result)} & set(cited))
    if ruling in _NEEDS_A_PROBE and not backed:
        ruling = OperatorRuling.UNVERIFIABLE
    return Steering(
        correction_id=correction.id,
        captured_at=correction.at,
        ruling=ruling,
        backed=backed,
        evidence_ids=tuple(cited) if backed else (),
    )


def _probed(result: CheckResult) -> bool:
    """Whether it looked at the cause itself, here and not anywhere else, and found something."""
    fetched = result.outcome is QueryOutcome.FETCHED
    probe = result.source is CheckSource.OPERATOR and result.kind == CAUSE_SERIES
    return probe and fetched and result.scoped
