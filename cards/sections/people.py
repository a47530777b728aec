"""Who works on it, what people said of its cause, and until when nothing of it rings."""

from datetime import datetime

from cards.card import Caveats, Line
from cards.line import bold, joined, moment, say, text
from cards.render.limits import clean, cut
from cards.section import Body, CardSection
from engine.model.review import Said, Verdict
from engine.model.run import CaseFile

MOST_CAUSE = 160
MOST_NAME = 40
SAID = {
    Verdict.RIGHT: "right cause",
    Verdict.WRONG: "wrong cause",
    Verdict.FIX_WORKED: "fix worked",
    Verdict.FIX_FAILED: "the fix did not work",
}


def build(case: CaseFile, now: datetime) -> Body | None:
    """Say what people did about it."""
    wrong = _wrong(case)
    against = (Caveats(lines=(wrong,)),) if wrong else ()
    line = joined((_taken(case), _said(case, now), _muted(case, now)))
    blocks = (*against, *((text(line),) if line else ()))
    return Body(blocks=blocks) if blocks else None


def name(said: str) -> str:
    """A person's name as a card shows it."""
    return cut(clean(said), MOST_NAME)


def _taken(case: CaseFile) -> Line:
    return say("taken by ", bold(name(case.taken_by))) if case.taken_by else ()


def _muted(case: CaseFile, now: datetime) -> Line:
    if case.muted_until is None or case.muted_until <= now:
        return ()
    return say("muted until ", moment(case.muted_until, now), f" by {name(case.muted_by)}")


def _said(case: CaseFile, now: datetime) -> Line:
    said = _of_shown(case)
    if said is None or said.verdict is Verdict.WRONG:
        return ()
    return say(f"{SAID[said.verdict]}, says {name(said.name)} at ", moment(said.at, now))


def _wrong(case: CaseFile) -> Line:
    said = _of_shown(case)
    if said is None or said.verdict is not Verdict.WRONG:
        return ()
    really = f": {cut(clean(said.cause), MOST_CAUSE)}" if said.cause else ""
    return say(bold(SAID[Verdict.WRONG]), f", says {name(said.name)}{really}")


def _of_shown(case: CaseFile) -> Said | None:
    shown = case.finding is not None
    return case.said if shown else None


SECTION = CardSection(name="people", rank=11, keep=87, build=build, muted=True)
