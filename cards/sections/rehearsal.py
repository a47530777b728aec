"""Says that what follows is a rehearsal, and which part of it."""

from datetime import datetime

from cards.line import bold, say, text
from cards.section import Body, CardSection
from engine.model.run import CaseFile


def marks(case: CaseFile) -> tuple[str, ...]:
    """Which parts of the case were rehearsed."""
    model = case.run is not None and case.run.rehearsal_model
    made = (("rehearsal metrics", case.client.is_drill), ("rehearsal model", model))
    return tuple(words for words, holds in made if holds)


def build(case: CaseFile, now: datetime) -> Body | None:
    """Name what is not real."""
    del now
    said = marks(case)
    if not said:
        return None
    drill = case.client.is_drill
    end = "nothing real is broken" if drill else "no cause below is real"
    line = say(bold("Drill" if drill else "Rehearsal"), f" — {' and '.join(said)}: {end}")
    return Body(blocks=(text(line),))


SECTION = CardSection(name="rehearsal", rank=5, keep=95, build=build, muted=True)
