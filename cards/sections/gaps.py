"""What could not be seen, and what is still being looked at."""

from datetime import datetime

from cards import words
from cards.card import Block, Caveats, Line, Text
from cards.line import say, text
from cards.section import Body, CardSection
from engine.model.pack import Pack, Section, SectionName, SectionStatus
from engine.model.run import CaseFile

LOOKED_FOR = tuple(name for name in SectionName if name is not SectionName.PRIORS)
"""Earlier resolutions are looked up, not looked for: nobody waits for them."""


def build(case: CaseFile, now: datetime) -> Body | None:
    """Name the sections that failed and those that are not in yet."""
    del now
    if case.pack is None:
        return Body(blocks=(Text(lines=(say("⏳ still looking"),)),))
    failed = unseen(case.pack)
    waiting = missing(case.pack)
    blocks: list[Block] = [Caveats(lines=failed)] if failed else []
    if waiting:
        blocks.append(text(say(f"⏳ still looking at {', '.join(waiting)}")))
    return Body(blocks=tuple(blocks)) if blocks else None


def unseen(pack: Pack) -> tuple[Line, ...]:
    """One line for each section whose backend could not answer."""
    return tuple(_failed(s) for s in pack.sections if s.status is SectionStatus.DEGRADED)


def _failed(section: Section) -> Line:
    why = f": {words.GAP[section.cause]}" if section.cause else ""
    return say(f"could not see {words.SECTION[section.name]}{why}")


def missing(pack: Pack) -> tuple[str, ...]:
    """Names of the sections that are not in yet."""
    return tuple(words.SECTION[name] for name in LOOKED_FOR if pack.section(name) is None)


SECTION = CardSection(name="gaps", rank=75, keep=86, build=build, muted=True)
