"""Which of its states a card is in; a pure choice from what the database holds."""

from enum import StrEnum

from engine.model.alert import AlertClass
from engine.model.finding import CaveatCode, Disposition, Finding, TrustLevel, VerifyStatus
from engine.model.incident import IncidentState
from engine.model.run import CaseFile, FailureClass, Run, RunState, SkipReason


class State(StrEnum):
    """What a card tells; every one has its own picture in the tests."""

    FACTS = "facts"
    """What is known before any model."""
    INVESTIGATING = "investigating"
    VERIFIED = "verified"
    UNCONFIRMED = "unconfirmed"
    UNVERIFIED = "unverified"
    UNCHECKED = "unchecked"
    """Verification is switched off."""
    DEGRADED = "degraded"
    """The round missed its promised minimum, whatever the trust level."""
    NO_FINDING = "no_finding"
    ABSTAINED = "abstained"
    NO_MODEL = "no_model"
    NOT_INVESTIGATED = "not_investigated"
    CHRONIC_QUIET = "chronic_quiet"
    WAITING = "waiting"
    """A transient failure; another try comes by itself."""
    OPERATOR_ACTION = "operator_action"
    FAILED = "failed"
    PREDICTIVE = "predictive"
    """Nothing is broken yet."""
    HEARTBEAT = "heartbeat"
    """A heartbeat that stopped."""
    FIRST_CONTACT = "first_contact"
    RESOLVED = "resolved"
    CLOSED = "closed"
    """No news; never called resolved."""
    MERGED = "merged"


def choose(case: CaseFile) -> State:
    """Say what the card of `case` tells now."""
    match case.incident.state:
        case IncidentState.MERGED:
            return State.MERGED
        case IncidentState.CLOSED:
            return State.CLOSED
        case IncidentState.RESOLVED:
            return State.RESOLVED
        case IncidentState.OPEN:
            return _open(case)


def degraded(finding: Finding) -> bool:
    """Whether the round missed its promised minimum."""
    return finding.round is not None and finding.round.degraded


def of_finding(finding: Finding) -> State:
    """Say what a finding is on a card."""
    if finding.disposition is Disposition.ABSTAINED:
        return State.ABSTAINED
    if any(caveat.code is CaveatCode.NO_MODEL for caveat in finding.caveats):
        return State.NO_MODEL
    if names_no_cause(finding):
        return State.NO_FINDING
    if degraded(finding):
        return State.DEGRADED
    return _by_trust(finding)


def names_no_cause(finding: Finding) -> bool:
    """Whether there is no cause to show: none was found, or the checks refuted it."""
    none = (VerifyStatus.REFUTED, VerifyStatus.NO_ANALYSIS)
    return not finding.root_cause or finding.verify_status in none


def _by_trust(finding: Finding) -> State:
    if finding.verify_status is VerifyStatus.NOT_RUN:
        return State.UNCHECKED
    match finding.trust_level:
        case TrustLevel.VERIFIED:
            return State.VERIFIED
        case TrustLevel.UNCONFIRMED:
            return State.UNCONFIRMED
        case TrustLevel.UNVERIFIED:
            return State.UNVERIFIED


def _open(case: CaseFile) -> State:
    if case.incident.alert_class is AlertClass.HEARTBEAT:
        return State.HEARTBEAT
    if case.finding is not None:
        return of_finding(case.finding)
    return _of_run(case, case.run) if case.run is not None else _without_run(case)


def _without_run(case: CaseFile) -> State:
    if case.incident.first_contact:
        return State.FIRST_CONTACT
    predictive = case.incident.alert_class is AlertClass.PREDICTIVE
    return State.PREDICTIVE if predictive else State.FACTS


def _of_run(case: CaseFile, run: Run) -> State:
    match run.state:
        case RunState.SKIPPED:
            return _skipped(case, run)
        case RunState.FAILED:
            needs_person = run.failure is FailureClass.OPERATOR_ACTION_REQUIRED
            return State.OPERATOR_ACTION if needs_person else State.FAILED
        case RunState.WAITING:
            return State.WAITING
        case RunState.INVESTIGATING | RunState.CHECKING:
            return State.INVESTIGATING
        case RunState.QUEUED | RunState.LOOKING | RunState.DONE:
            return State.FACTS


def _skipped(case: CaseFile, run: Run) -> State:
    match run.skip_reason:
        case SkipReason.NO_MODEL | SkipReason.BREAKER_OPEN:
            return State.NO_MODEL
        case SkipReason.CHRONIC_QUIET:
            return State.CHRONIC_QUIET
        case SkipReason.FIRST_CONTACT:
            return State.FIRST_CONTACT
        case _ if case.incident.alert_class is AlertClass.PREDICTIVE:
            return State.PREDICTIVE
        case _:
            return State.NOT_INVESTIGATED
