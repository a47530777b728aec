"""The first steps of the runbook, and where the rest stands."""

from datetime import datetime

from cards.card import Line, Link
from cards.line import bold, joined, say, text
from cards.render.limits import clean, cut
from cards.section import Body, CardSection
from engine.model.pack import SectionName
from engine.model.run import CaseFile

MOST_STEPS = 3
MOST_STEP = 140
MOST_URL = 300


def build(case: CaseFile, now: datetime) -> Body | None:
    """A few steps and the links."""
    del now
    section = case.pack.section(SectionName.RUNBOOK) if case.pack else None
    steps = [say(cut(clean(item.text), MOST_STEP)) for item in (section.items if section else ())]
    links = joined(_links(case))
    if not steps:
        return Body(blocks=(text(links),)) if links else None
    return Body(title=say(bold("Runbook")), blocks=(text(*steps[:MOST_STEPS], links),))


def _links(case: CaseFile) -> list[Line]:
    alert = case.incident.lead.alert
    named = (
        Link(label="Open runbook", url=alert.annotations.get("runbook_url", "")),
        Link(label="Open graph", url=alert.generator_url or "", optional=True),
    )
    return [(link,) for link in named if link.url and len(link.url) <= MOST_URL]


SECTION = CardSection(name="runbook", rank=65, keep=62, build=build)
