"""When a person has to look at a finding. It never pages anybody."""

from engine.model.alert import Severity
from engine.model.finding import CaveatCode, Disposition, Finding, TrustLevel, VerifyStatus
from engine.model.incident import Incident
from engine.model.org import DRILL_CLIENT
from engine.model.review import ReviewReason
from engine.ports import Tx

EXPIRES_S = 14 * 86400.0
"""How long an item waits for a verdict."""


def review_reason(finding: Finding, severity: Severity) -> ReviewReason | None:
    """Say why a person has to look at a finding, the gravest reason first.

    Where nobody judged there is nothing to review.
    """
    if finding.disposition is Disposition.NOT_JUDGED:
        return None
    codes = {caveat.code for caveat in finding.caveats}
    high = severity.rank >= Severity.HIGH.rank
    asked = {
        ReviewReason.UNGROUNDED: CaveatCode.UNGROUNDED in codes,
        ReviewReason.INJECTION_SUSPECTED: CaveatCode.INJECTION_SUSPECTED in codes,
        ReviewReason.CORRECTION_CONTRADICTED: (
            finding.steering is not None and finding.steering.contradicted
        ),
        ReviewReason.REFUTED: finding.verify_status is VerifyStatus.REFUTED,
        ReviewReason.ABSTAINED: finding.disposition is Disposition.ABSTAINED,
        ReviewReason.UNVERIFIED_HIGH: high and finding.trust_level is TrustLevel.UNVERIFIED,
    }
    return next((reason for reason, hit in asked.items() if hit), None)


async def open_review(
    tx: Tx, incident: Incident, reason: ReviewReason | None, triage_id: str | None
) -> bool:
    """Put it on the list of what people have to look at; False when it stands there already.

    A rehearsal is nobody's work.
    """
    if reason is None or incident.client_id == DRILL_CLIENT:
        return False
    return await tx.reviews.open(incident, reason, triage_id)
