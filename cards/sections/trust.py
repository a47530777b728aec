"""How far the claim may be leaned on: the checks it passed, or what lowers it."""

from datetime import datetime

from cards import caveats
from cards.card import Block, Caveats, Line
from cards.figures import per_cent
from cards.heading import choose_verified
from cards.life import names_no_cause
from cards.line import bold, joined, moment, say, text
from cards.render.limits import clean
from cards.section import Body, CardSection
from engine.model.finding import Disposition, Finding, Ruling, VerifyStatus
from engine.model.run import CaseFile

MOST_LINES = 4


def build(case: CaseFile, now: datetime) -> Body | None:
    """One line of standing, then the caveats."""
    finding = case.finding
    if finding is None:
        return None
    lines = _capped(caveats.lines(finding))
    standing = joined((*standing_of(finding), remembered(finding, now), record(case)))
    blocks: tuple[Block, ...] = (text(standing),) if standing else ()
    return Body(blocks=(*blocks, Caveats(lines=lines)) if lines else blocks)


def _capped(lines: tuple[Line, ...]) -> tuple[Line, ...]:
    if len(lines) <= MOST_LINES:
        return lines
    return (*lines[:MOST_LINES], caveats.overflow(len(lines) - MOST_LINES))


def standing_of(finding: Finding) -> tuple[Line, ...]:
    """How sure it is: the mark, the figure, the claims that hold."""
    if finding.verify_status is VerifyStatus.NOT_RUN:
        return (say("verification is switched off: nothing was checked"),)
    return (_mark(finding), confidence(finding), supported(finding))


def _mark(finding: Finding) -> Line:
    return say("✅ ", bold("verified")) if choose_verified(finding) else ()


def confidence(finding: Finding) -> Line:
    """The one figure, whole per cent; none where no cause stands."""
    none = names_no_cause(finding) or finding.disposition is Disposition.ABSTAINED
    if finding.confidence is None or none or finding.verify_status is VerifyStatus.NOT_RUN:
        return ()
    return say(f"confidence {per_cent(finding.confidence)}")


def remembered(finding: Finding, now: datetime) -> Line:
    """Where a cause that was adopted is known from."""
    prior = finding.prior
    if prior is None or prior.confirmed_at is None or names_no_cause(finding):
        return ()
    by = clean(prior.confirmed_by)
    return say("from memory: as on ", moment(prior.confirmed_at, now), f", confirmed by {by}")


def record(case: CaseFile) -> Line:
    """How earlier verdicts on this family came out, beside a cause that is claimed."""
    told = case.family_record
    if told is None or case.finding is None or names_no_cause(case.finding):
        return ()
    verdicts = "verdict" if told.of == 1 else "verdicts"
    return say(f"{told.held} of {told.of} {verdicts} of this family held")


def supported(finding: Finding) -> Line:
    """How many cited claims the evidence backs."""
    if not finding.claims or names_no_cause(finding):
        return ()
    held = sum(claim.ruling is Ruling.SUPPORTED for claim in finding.claims)
    return say(f"{held} of {len(finding.claims)} cited claims supported")


SECTION = CardSection(name="trust", rank=25, keep=99, build=build, muted=True)
