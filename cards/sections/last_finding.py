"""The finding of the last time, quoted because nothing is new."""

from datetime import datetime

from cards.card import Line
from cards.figures import ordinal
from cards.heading import cause_title, choose_verified
from cards.life import names_no_cause
from cards.line import bold, moment, say, text
from cards.render.limits import clean, cut
from cards.section import Body, CardSection
from cards.sections.history import times
from engine.model.run import CaseFile

MOST_CAUSE = 450


def build(case: CaseFile, now: datetime) -> Body:
    """When, how sure it was, what it said, and how often it came."""
    again = say(f"{ordinal(times(case))} time in 7 days; nothing new")
    last = case.last_finding
    if last is None:
        return Body(title=say(bold("Seen before")), blocks=(text(again),))
    title = (*say(bold("Last finding"), " (", moment(last.created_at, now), ")"), *_mark(case))
    cause = () if names_no_cause(last) else say(cut(clean(last.root_cause or ""), MOST_CAUSE))
    return Body(title=title, blocks=(text(cause, again),))


def _mark(case: CaseFile) -> Line:
    """The trust of the last finding, as its own heading would say it."""
    if case.last_finding is None:
        return ()
    title = cause_title(case.last_finding)
    if len(title) > 1:
        return title[1:]
    return say(f" · {'verified' if choose_verified(case.last_finding) else 'not checked'}")


SECTION = CardSection(name="last_finding", rank=20, keep=97, build=build)
