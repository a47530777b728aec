"""The cause, or the abstention as plainly as a cause; its trust stands in the heading."""

from datetime import datetime

from cards.card import Line
from cards.heading import cause_title
from cards.life import names_no_cause
from cards.line import say, text
from cards.render.limits import cut
from cards.section import Body, CardSection
from engine.model.finding import Disposition, Finding
from engine.model.run import CaseFile

MOST_CAUSE = 450


def build(case: CaseFile, now: datetime) -> Body | None:
    """Head the claim with its trust and say it."""
    del now
    if case.finding is None:
        return None
    return Body(title=cause_title(case.finding), blocks=(text(statement(case.finding)),))


def statement(finding: Finding) -> Line:
    """What is claimed; what is missing when nothing is."""
    if finding.disposition is Disposition.ABSTAINED:
        return say(cut(finding.missing or "what would be needed is not known", MOST_CAUSE))
    if names_no_cause(finding):
        return say(cut(finding.missing, MOST_CAUSE)) if finding.missing else ()
    return say(cut(finding.root_cause or "", MOST_CAUSE))


SECTION = CardSection(name="cause", rank=20, keep=100, build=build)
