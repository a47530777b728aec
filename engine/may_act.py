"""Whether a finding is good enough for the engine to prepare something by itself."""

from enum import StrEnum

from engine.model.finding import CaveatCode, Disposition, Finding, TrustLevel
from engine.model.org import Flags
from engine.model.policy import GroundednessRule, TrustRule
from engine.trust import Standing, stamp


class Preparation(StrEnum):
    """What may be drafted without being asked. A draft is no effect; a press is."""

    PROPOSAL = "proposal"
    MEMORY_STUB = "memory_stub"


_LEAST = {
    Preparation.PROPOSAL: TrustLevel.UNCONFIRMED,
    Preparation.MEMORY_STUB: TrustLevel.VERIFIED,
}
_RANK = {TrustLevel.UNVERIFIED: 0, TrustLevel.UNCONFIRMED: 1, TrustLevel.VERIFIED: 2}


def may_act(
    finding: Finding, preparation: Preparation, flags: Flags, rule: GroundednessRule, *, fits: bool
) -> bool:
    """Say whether `preparation` may be drafted from `finding`.

    Args:
        finding: as persisted.
        preparation: what would be drafted.
        flags: the client's flags, read afresh.
        rule: the floor against fabrication; a score is needed, null is not enough.
        fits: the catalog entry fits the finding's cause; of no interest to memory.
    """
    on = flags.ai_triage and (flags.remediation or preparation is not Preparation.PROPOSAL)
    grounded = finding.groundedness is not None and finding.groundedness >= rule.floor
    trusted = _RANK[finding.trust_level] >= _RANK[_LEAST[preparation]]
    answered = finding.disposition is Disposition.ANSWERED
    suits = fits or preparation is not Preparation.PROPOSAL
    return on and answered and grounded and _checked(finding) and trusted and suits


def _checked(finding: Finding) -> bool:
    return finding.round is not None and not finding.round.degraded


def demoted(finding: Finding) -> bool:
    """Whether what it names was not in the evidence."""
    return any(caveat.code is CaveatCode.UNGROUNDED for caveat in finding.caveats)


def would_have_acted(finding: Finding) -> bool:
    """Whether only the missing ground kept the engine from preparing something on it."""
    standing = Standing(
        status=finding.verify_status,
        vetoes=finding.vetoes,
        valid_citations=finding.valid_citations,
    )
    level = stamp(standing, TrustRule())
    return demoted(finding) and _checked(finding) and _RANK[level] >= _RANK[TrustLevel.UNCONFIRMED]
