"""What was changed around the time it began; "none" and "nobody looked" are two sentences."""

from collections.abc import Sequence
from datetime import datetime

from cards import words
from cards.card import Line
from cards.figures import duration
from cards.line import bold, code, moment, say, text
from cards.render.limits import cut
from cards.section import Body, CardSection
from engine.model.pack import ChangeFacts, SectionName, SectionStatus
from engine.model.pack import Section as PackSection
from engine.model.run import CaseFile

MOST = 3
SOURCES = (SectionName.DEPLOYS, SectionName.CHANGES, SectionName.CLOUD)


def build(case: CaseFile, now: datetime) -> Body | None:
    """The changes nearest to onset, or why there are none to show."""
    if case.pack is None:
        return None
    sections = [s for name in SOURCES if (s := case.pack.section(name)) is not None]
    found = sorted(_changes(sections), key=lambda change: abs(change.onset_offset_s))
    if found:
        lines = [_line(change, now) for change in found[:MOST]]
        hidden = len(found) - len(lines) + sum(s.omitted for s in sections)
        more = say(f", {hidden:,} more") if hidden > 0 else ()
        return Body(title=(*say(bold("Changes")), *more), blocks=(text(*lines),))
    sentence = none_found(sections)
    return Body(blocks=(text(say(bold("Changes: "), sentence)),)) if sentence else None


def _changes(sections: Sequence[PackSection]) -> list[ChangeFacts]:
    items = [item for section in sections for item in section.items]
    return [item.facts for item in items if isinstance(item.facts, ChangeFacts)]


def none_found(sections: Sequence[PackSection]) -> str:
    """Tell "no changes" from "nobody looked"; empty while it is still being looked at."""
    asked = [s for s in sections if s.status is not SectionStatus.NOT_CONFIGURED]
    if len(sections) < len(SOURCES):
        return ""
    if not asked:
        return "no change source is connected"
    if any(s.status is SectionStatus.EMPTY for s in asked):
        return "none found before it began"
    return ""


def _line(change: ChangeFacts, now: datetime) -> Line:
    side = "before" if change.onset_offset_s <= 0 else "after"
    when = f"{duration(change.onset_offset_s)} {side} it began"
    kind = words.CHANGE[change.change]
    return say(
        f"{kind} ",
        code(change.component),
        f" {cut(change.what, 100)} at ",
        moment(change.at, now),
        f", {when}",
    )


SECTION = CardSection(name="changes", rank=50, keep=70, build=build)
