"""What became of a triage, and how its second call ended. Pure."""

from engine.model.base import Frozen
from engine.model.finding import ClaimRuling, Disposition, Ruling, VerifyStatus


class Judged(Frozen):
    """The final finding as far as its status depends on it."""

    abstains: bool
    draft_abstained: bool
    replaced: bool
    floor_fetched: bool
    rulings: tuple[ClaimRuling, ...]


def verify_status(judged: Judged) -> VerifyStatus:
    """Say how the second call ended, about the finding that is kept.

    A cause without one key claim was not checked, whatever the model says of the others.
    """
    key = [ruling.ruling for ruling in judged.rulings if ruling.claim.key]
    if judged.abstains and judged.draft_abstained:
        return VerifyStatus.NO_ANALYSIS
    if Ruling.CONTRADICTED in key and not judged.replaced:
        return VerifyStatus.REFUTED
    supported = bool(key) and all(ruling is Ruling.SUPPORTED for ruling in key)
    if supported and judged.floor_fetched and not judged.replaced and not judged.abstains:
        return VerifyStatus.VERIFIED
    return VerifyStatus.INCONCLUSIVE


def disposition(
    status: VerifyStatus, *, abstains: bool, drafted: bool = True, review: bool = False
) -> Disposition:
    """Say what became of it.

    Args:
        status: how verification ended.
        abstains: the kept finding names no cause.
        drafted: there was a valid draft at all.
        review: ungrounded, injection suspected or a correction contradicted.
    """
    if not drafted:
        return Disposition.NOT_JUDGED
    if review or status is VerifyStatus.REFUTED:
        return Disposition.NEEDS_REVIEW
    return Disposition.ABSTAINED if abstains else Disposition.ANSWERED
