"""How far a reader may lean on a finding. Stamped here and nowhere else."""

from engine.model.base import Frozen
from engine.model.finding import TrustLevel, VerifyStatus, Veto
from engine.model.policy import TrustRule


class Standing(Frozen):
    """All that the stamp looks at; no text of anybody is in it."""

    status: VerifyStatus
    confidence: float | None = None
    """Calibrated and capped."""
    ungrounded: bool = False
    vetoes: tuple[Veto, ...] = ()
    valid_citations: int = 0


def stamp(standing: Standing, rule: TrustRule) -> TrustLevel:
    """Say how far a reader may lean on what stands like this.

    A refuted cause is never better than `unverified`, and a veto never lets one be `verified`.
    """
    if standing.ungrounded:
        return TrustLevel.UNVERIFIED
    match standing.status:
        case VerifyStatus.VERIFIED:
            sure = standing.confidence is not None and standing.confidence >= rule.min_confidence
            stands = sure and not standing.vetoes
            return TrustLevel.VERIFIED if stands else TrustLevel.UNCONFIRMED
        case VerifyStatus.INCONCLUSIVE:
            return TrustLevel.UNCONFIRMED
        case VerifyStatus.TIMED_OUT | VerifyStatus.ERRORED:
            enough = standing.valid_citations >= rule.min_evidence
            return TrustLevel.UNCONFIRMED if enough else TrustLevel.UNVERIFIED
        case VerifyStatus.REFUTED | VerifyStatus.NOT_RUN | VerifyStatus.NO_ANALYSIS:
            return TrustLevel.UNVERIFIED
