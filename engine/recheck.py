"""Whether a finding is worth a second look by others than the one who made it."""

from enum import StrEnum

from engine.model.finding import Disposition, Finding
from engine.model.incident import Incident, IncidentState
from engine.model.org import DRILL_CLIENT
from engine.model.policy import RecheckRule


class RecheckSkip(StrEnum):
    """Why a finding is not handed on; closed, as it is counted."""

    DRILL = "drill"
    NO_VERDICT = "no_verdict"
    """It names no cause, or nobody judged."""
    NO_CONFIDENCE = "no_confidence"
    ABOVE_THRESHOLD = "above_threshold"
    CLOSED = "closed"
    """The incident was over by then."""
    DISABLED = "disabled"
    """Nobody rechecks in this install."""


def recheck_skip(finding: Finding, incident: Incident, rule: RecheckRule) -> RecheckSkip | None:
    """Say why a finding is not rechecked; None: it should be.

    What is as sure as the threshold is not.
    """
    answered = finding.disposition in {Disposition.ANSWERED, Disposition.NEEDS_REVIEW}
    sure = finding.confidence is not None and finding.confidence >= rule.threshold
    asked = {
        RecheckSkip.DRILL: incident.client_id == DRILL_CLIENT,
        RecheckSkip.NO_VERDICT: not answered or finding.root_cause is None,
        RecheckSkip.NO_CONFIDENCE: finding.confidence is None,
        RecheckSkip.ABOVE_THRESHOLD: sure,
        RecheckSkip.CLOSED: incident.state is not IncidentState.OPEN,
    }
    return next((reason for reason, hit in asked.items() if hit), None)
