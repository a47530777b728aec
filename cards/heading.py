"""The first line: how bad, what, where; and what a lock screen shows."""

from collections.abc import Mapping

from cards import caveats, words
from cards.card import Line
from cards.life import State, choose, degraded, names_no_cause
from cards.line import bold, say
from cards.render.limits import clean, cut
from engine.model.finding import Disposition, Finding, TriagePath, TrustLevel, VerifyStatus
from engine.model.pack import CanWait
from engine.model.run import CaseFile

MOST_HEADING = 150
MOST_LOCK_SCREEN = 110
MOST_NAME = 60
MOST_WHERE = 32
MOST_TITLE = 70
"""Past this the warning comes first, so that no line break falls into it."""
SERVICE_LABELS = (
    "service",
    "workload",
    "deployment",
    "statefulset",
    "daemonset",
    "app",
    "job_name",
    "namespace",
    "host",
    "node",
    "instance",
    "device",
    "job",
)


ENDS: Mapping[State, str] = {
    State.RESOLVED: "RESOLVED",
    State.CLOSED: "CLOSED, NO NEWS",
    State.MERGED: "MERGED",
}
"""Stands where the severity stood once it is over."""


def where(case: CaseFile) -> str:
    """What fails, in the shortest name a person uses for it."""
    if case.pack is not None and case.pack.anchor.service:
        return case.pack.anchor.service
    scope = case.incident.group_of(case.incident.lead).scope
    labels = {**case.incident.lead.alert.labels, **scope}
    named = next((labels[key] for key in SERVICE_LABELS if labels.get(key)), "")
    return named or (case.pack.anchor.host if case.pack and case.pack.anchor.host else "")


def rule(case: CaseFile) -> str:
    """The name of the rule the card is named after."""
    return case.incident.lead.alert.rule or case.incident.group_of(case.incident.lead).rule


def heading(case: CaseFile) -> str:
    """Severity, alert, service."""
    names = (cut(clean(rule(case)), MOST_NAME), cut(clean(where(case)), MOST_NAME))
    first = ENDS.get(choose(case), words.SEVERITY[case.incident.severity])
    parts = (_drill(case), first, *names)
    return cut(" · ".join(part for part in dict.fromkeys(parts) if part), MOST_HEADING)


def _drill(case: CaseFile) -> str:
    return "DRILL" if case.client.is_drill else ""


def claim(finding: Finding) -> str:
    """What a finding may call its cause; "Likely cause" only when verified."""
    if finding.disposition is Disposition.ABSTAINED:
        return "Cannot determine this from the available evidence"
    if names_no_cause(finding):
        return "No cause found"
    if degraded(finding):
        return "Possible cause"
    if (
        finding.path is TriagePath.SHORT_CIRCUIT
        and finding.trust_level is not TrustLevel.UNVERIFIED
    ):
        return "Known cause"
    verified = choose_verified(finding)
    return "Likely cause" if verified else "Possible cause"


def choose_verified(finding: Finding) -> bool:
    """Whether the finding may be called verified on a card."""
    stamped = finding.trust_level is TrustLevel.VERIFIED and bool(finding.root_cause)
    return stamped and not degraded(finding) and finding.disposition is Disposition.ANSWERED


def trust_word(finding: Finding) -> str:
    """The warning that stands beside the claim; empty when there is none to make."""
    if degraded(finding):
        return caveats.CHECKS_UNAVAILABLE
    if finding.disposition is Disposition.ABSTAINED or choose_verified(finding):
        return ""
    if finding.verify_status in (VerifyStatus.NOT_RUN, VerifyStatus.NO_ANALYSIS):
        return ""
    if finding.trust_level is TrustLevel.VERIFIED:
        return words.TRUST[TrustLevel.UNCONFIRMED]
    return words.TRUST[finding.trust_level]


def cause_title(finding: Finding) -> Line:
    """The heading of the claim, with its trust in it."""
    word = trust_word(finding)
    title = bold(claim(finding))
    if not word:
        return say(title)
    warning = bold(f"⚠ {word}")
    long = len(title.text) + len(warning.text) > MOST_TITLE
    return say(warning, " · ", title) if long else say(title, " · ", warning)


def lock_screen(case: CaseFile) -> str:
    """Severity, service, whether it can wait, and the cause or that there is none."""
    place = cut(clean(where(case) or rule(case)), MOST_WHERE)
    start = " ".join(
        part for part in (_drill(case), words.SEVERITY[case.incident.severity], place) if part
    )
    return cut(" · ".join((start, wait_phrase(case), clean(_gist(case)))), MOST_LOCK_SCREEN)


def wait_phrase(case: CaseFile) -> str:
    """Whether a person must get up, in three words."""
    match choose(case):
        case State.RESOLVED | State.MERGED:
            return "can wait"
        case State.HEARTBEAT:
            return "can't wait"
        case _ if case.pack is None or choose(case) is State.CLOSED:
            return words.CAN_WAIT_SHORT[CanWait.UNKNOWN]
        case _:
            return words.CAN_WAIT_SHORT[case.pack.impact.can_wait]


GISTS: Mapping[State, str] = {
    State.FACTS: "no cause yet",
    State.INVESTIGATING: "no cause yet, investigating",
    State.NO_MODEL: "no cause: no model ran",
    State.NOT_INVESTIGATED: "no cause: not investigated",
    State.CHRONIC_QUIET: "nothing new",
    State.WAITING: "no cause yet, model busy",
    State.OPERATOR_ACTION: "no cause: model account needs a person",
    State.FAILED: "no cause: investigation failed",
    State.PREDICTIVE: "nothing broken yet",
    State.HEARTBEAT: "heartbeat stopped, alerts may not arrive",
    State.FIRST_CONTACT: "already fired at first contact",
    State.CLOSED: "closed: no news",
    State.MERGED: "merged into another incident",
}


def _gist(case: CaseFile) -> str:
    state = choose(case)
    if state is State.RESOLVED:
        return f"resolved · {_cause(case.finding)}" if case.finding else "resolved · no cause found"
    if state in GISTS:
        return f"{GISTS[state]} · {rule(case)}"
    return _cause(case.finding) if case.finding else "no cause"


def _cause(finding: Finding) -> str:
    """The cause with its trust before it, so that a cut never takes the trust away."""
    if finding.disposition is Disposition.ABSTAINED:
        return "no cause: the evidence does not tell"
    if names_no_cause(finding):
        return "no cause found"
    mark = trust_word(finding) or ("verified" if choose_verified(finding) else "not checked")
    return f"{claim(finding).lower()} ({mark}): {finding.root_cause}"
