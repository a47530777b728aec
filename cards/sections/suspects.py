"""What could be behind it, ranked without a model, and why."""

from datetime import datetime

from cards import words
from cards.card import Line
from cards.line import bold, code, say, text
from cards.render.limits import cut
from cards.section import Body, CardSection
from engine.model.pack import Pack, SectionName, SectionStatus, Suspect
from engine.model.run import CaseFile

MOST = 3
OF_THE_ALERT = (SectionName.ALERTS, SectionName.HISTORY, SectionName.RUNBOOK)
MOST_TEXT = 140
MOST_REASONS = 2


def build(case: CaseFile, now: datetime) -> Body | None:
    """The best few, or that none stands out."""
    del now
    if case.pack is None:
        return None
    if not case.pack.suspects:
        return Body(blocks=(text(_none(case.pack)),))
    best = case.pack.suspects[:MOST]
    lines = [_line(place, suspect) for place, suspect in enumerate(best, start=1)]
    return Body(title=say(bold("Suspects"), ", ranked from facts"), blocks=(text(*lines),))


def _none(pack: Pack) -> Line:
    """Tell "nothing stands out" from "nothing was looked at"."""
    looked = [s for s in pack.sections if s.name not in OF_THE_ALERT]
    if all(s.status is SectionStatus.NOT_CONFIGURED for s in looked):
        return say(bold("No suspects"), ": only the alert itself was looked at")
    return say(bold("No suspect stands out"))


def _line(place: int, suspect: Suspect) -> Line:
    reasons = ", ".join(words.SUSPECT[reason] for reason in suspect.reasons[:MOST_REASONS])
    what = cut(suspect.text, MOST_TEXT)
    named = suspect.component in suspect.text
    subject = () if named else say(code(suspect.component), ": ")
    return (*say(f"{place}. "), *subject, *say(what), *say(f" ({reasons})" if reasons else ""))


SECTION = CardSection(name="suspects", rank=30, keep=78, build=build)
