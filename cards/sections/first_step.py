"""What a person should look at or do first."""

from datetime import datetime

from cards.life import names_no_cause
from cards.line import bold, say, text
from cards.render.limits import cut
from cards.section import Body, CardSection
from engine.model.finding import Disposition, Finding
from engine.model.run import CaseFile

MOST = 240


def build(case: CaseFile, now: datetime) -> Body | None:
    """The finding's next step, where the finding itself may be leaned on."""
    del now
    finding = case.finding
    if finding is None or not finding.next_step or _shaky(finding):
        return None
    return Body(blocks=(text(say(bold("Look here first: "), cut(finding.next_step, MOST))),))


def _shaky(finding: Finding) -> bool:
    """Refuted, or resting on things the evidence does not hold: its advice is not repeated."""
    if finding.disposition is Disposition.ABSTAINED:
        return False
    refuted = bool(finding.root_cause) and names_no_cause(finding)
    return refuted or finding.disposition is Disposition.NEEDS_REVIEW


SECTION = CardSection(name="first_step", rank=28, keep=82, build=build)
