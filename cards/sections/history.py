"""Whether it has been seen before, and what it was then."""

from datetime import datetime

from cards.card import Line
from cards.figures import TIMES, duration
from cards.heading import claim
from cards.life import names_no_cause
from cards.line import bold, joined, moment, say, text
from cards.render.limits import clean, cut
from cards.section import Body, CardSection
from engine.model.pack import HistoryFacts, PriorFacts, SectionName, SectionStatus
from engine.model.run import CaseFile

MOST_CAUSE = 200
MOST_FIX = 120


def build(case: CaseFile, now: datetime) -> Body | None:
    """Recurrence, and the last finding where it has one."""
    lines = (joined((_seen(case), _marks(case))), _last(case, now), _prior(case, now))
    body = text(*lines)
    return Body(blocks=(body,)) if body.lines else None


def _facts(case: CaseFile) -> HistoryFacts | None:
    section = case.pack.section(SectionName.HISTORY) if case.pack else None
    items = section.items if section else ()
    return next((i.facts for i in items if isinstance(i.facts, HistoryFacts)), None)


def times(case: CaseFile) -> int:
    """How often the family fired inside the chronic window, this time included."""
    facts = _facts(case)
    return max(facts.occurrences if facts else 0, case.incident.recurrences + 1)


def _seen(case: CaseFile) -> Line:
    facts = _facts(case)
    span = duration(facts.window_s) if facts else "7 d"
    if times(case) > 1:
        return say(f"seen {times(case):,}{TIMES} in {span}")
    section = case.pack.section(SectionName.HISTORY) if case.pack else None
    read = section is not None and section.status in (SectionStatus.OK, SectionStatus.EMPTY)
    return say(f"first time in {span}") if read else ()


def _marks(case: CaseFile) -> Line:
    held = ((case.incident.flapping, "flapping"), (case.incident.regression, "back after a fix"))
    return joined(say(name) for holds, name in held if holds)


def _last(case: CaseFile, now: datetime) -> Line:
    """The last finding of the family; its trust is said before its cause."""
    last = case.last_finding
    if last is None or case.finding is not None or names_no_cause(last):
        return ()
    mark = "" if claim(last) == "Likely cause" else " (not verified)"
    when = moment(last.created_at, now)
    return say("last time, ", when, f"{mark}: {cut(clean(last.root_cause or ''), MOST_CAUSE)}")


def _prior(case: CaseFile, now: datetime) -> Line:
    """The fix of the case that looks most alike, and whose word it is."""
    section = case.pack.section(SectionName.PRIORS) if case.pack else None
    items = section.items if section else ()
    prior = next((i.facts for i in items if isinstance(i.facts, PriorFacts)), None)
    if prior is None:
        return ()
    fix = cut(clean(prior.fix), MOST_FIX)
    lead = "seen before: fix " if prior.held else "seen before, and it came back after: "
    return (*say(lead, bold(fix)), *_word_of(prior, now))


def _word_of(prior: PriorFacts, now: datetime) -> Line:
    by = f", confirmed by {clean(prior.confirmed_by)}" if prior.confirmed_by else ""
    return say(by, " on ", moment(prior.confirmed_at, now)) if prior.confirmed_at else say(by)


SECTION = CardSection(name="history", rank=68, keep=60, build=build, muted=True)
