"""What a person should look at or do first."""

from datetime import datetime

from cards.life import names_no_cause
from cards.line import bold, say, text
from cards.render.limits import cut
from cards.section import Body, CardSection
from engine.model.run import CaseFile

MOST = 240


def build(case: CaseFile, now: datetime) -> Body | None:
    """The finding's next step; a refuted cause gives none."""
    del now
    finding = case.finding
    if finding is None or not finding.next_step or (finding.root_cause and names_no_cause(finding)):
        return None
    return Body(blocks=(text(say(bold("Look here first: "), cut(finding.next_step, MOST))),))


SECTION = CardSection(name="first_step", rank=28, keep=82, build=build)
