"""What the claims rest on, folded away."""

from datetime import datetime

from cards import words
from cards.card import Line, Quote
from cards.life import names_no_cause
from cards.line import say
from cards.render.limits import clean, cut
from cards.section import Body, CardSection
from engine.model.finding import CheckResult, ClaimRuling
from engine.model.run import CaseFile

MOST_CLAIMS = 5
MOST_CHECKS = 4
MOST_TEXT = 160


def build(case: CaseFile, now: datetime) -> Body | None:
    """Claims with the ids they cite, then the checks made against them."""
    del now
    finding = case.finding
    if finding is None:
        return None
    claims = () if names_no_cause(finding) else finding.claims[:MOST_CLAIMS]
    checks = finding.round.results[:MOST_CHECKS] if finding.round else ()
    lines = (*(claim_line(c) for c in claims), *(check_line(r) for r in checks))
    return Body(blocks=(Quote(title="Evidence", lines=lines),)) if lines else None


def claim_line(ruled: ClaimRuling) -> Line:
    """A claim, how it was ruled and on what."""
    ids = ", ".join(dict.fromkeys((*ruled.claim.evidence_ids, *ruled.evidence_ids)))
    cited = f" [{ids}]" if ids else ""
    return say(f"{cut(clean(ruled.claim.text), MOST_TEXT)} — {words.RULING[ruled.ruling]}{cited}")


def check_line(result: CheckResult) -> Line:
    """A check and what came back."""
    came = cut(clean(result.text), MOST_TEXT) or words.OUTCOME[result.outcome]
    return say(f"{result.id} {came}")


SECTION = CardSection(name="evidence", rank=90, keep=10, build=build)
