"""Can it wait? The answer and what decided it."""

from datetime import datetime, timedelta

from cards import words
from cards.line import bold, moment, say, text
from cards.section import Body, CardSection
from engine.model.pack import CanWait, ImpactReason
from engine.model.run import CaseFile


def build(case: CaseFile, now: datetime) -> Body:
    """Yes, no or unknown, with the reason."""
    pack = case.pack
    if pack is None:
        return Body(blocks=(text(say(bold("Can it wait? "), "Still measuring who is hit")),))
    impact = pack.impact
    reason = words.impact_reason(impact)
    line = say(bold(f"Can it wait? {words.CAN_WAIT[impact.can_wait]}"), f" — {reason}")
    predicted = impact.reason in (ImpactReason.TIME_LEFT, ImpactReason.SOON)
    if predicted and impact.until_s is not None and impact.can_wait is not CanWait.UNKNOWN:
        line = (*line, *say(", until ", moment(_until(pack.anchor.taken_at, impact.until_s), now)))
    return Body(blocks=(text(line),))


def _until(taken_at: datetime, until_s: float) -> datetime:
    """When it breaks; a figure past any calendar is held at ten years."""
    longest = timedelta(days=3650).total_seconds()
    return taken_at + timedelta(seconds=max(0.0, min(until_s, longest)))


SECTION = CardSection(name="impact", rank=15, keep=92, build=build)
