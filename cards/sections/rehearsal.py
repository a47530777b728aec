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
    lead = "Drill" if case.client.is_drill else "Rehearsal"
    return Body(
        blocks=(
            text(
                say(bold(lead), f" — {' and '.join(said)}, nothing real is broken")
                if case.client.is_drill
                else say(bold(lead), f" — {' and '.join(said)}: no cause below is real")
            ),
        )
    )


SECTION = CardSection(name="rehearsal", rank=5, keep=95, build=build, muted=True)
