"""What the alert says in its own words."""

from datetime import datetime

from cards.line import say, text
from cards.render.limits import clean, cut
from cards.section import Body, CardSection
from engine.model.run import CaseFile

MOST = 240
ANNOTATIONS = ("summary", "description", "message")


def build(case: CaseFile, now: datetime) -> Body | None:
    """The first annotation that says something."""
    del now
    annotations = case.incident.lead.alert.annotations
    found = next((said for key in ANNOTATIONS if (said := clean(annotations.get(key, "")))), "")
    return Body(blocks=(text(say(cut(found, MOST))),)) if found else None


SECTION = CardSection(name="summary", rank=14, keep=65, build=build)
