"""What else was seen: upstream alerts, cluster events, telling log lines."""

from datetime import datetime

from cards import words
from cards.card import Line
from cards.line import bold, code, say, text
from cards.render.limits import clean, cut
from cards.section import Body, CardSection
from engine.model.pack import Item, SectionName, TextFacts
from engine.model.run import CaseFile

MOST_EACH = 2
MOST_TEXT = 160
SOURCES = (SectionName.UPSTREAM, SectionName.KUBERNETES, SectionName.ZABBIX, SectionName.LOGS)


def build(case: CaseFile, now: datetime) -> Body | None:
    """A line or two of each."""
    del now
    if case.pack is None:
        return None
    sections = [s for name in SOURCES if (s := case.pack.section(name)) is not None and s.items]
    lines = [_line(s.name, item) for s in sections for item in s.items[:MOST_EACH]]
    return Body(title=say(bold("Also seen")), blocks=(text(*lines),)) if lines else None


def _line(name: SectionName, item: Item) -> Line:
    """Text anyone can write is shown as a machine string, never as ours."""
    said = cut(clean(item.text), MOST_TEXT)
    untrusted = isinstance(item.facts, TextFacts) and item.facts.untrusted
    return say(f"{words.SECTION[name]}: ", code(said) if untrusted else said)


SECTION = CardSection(name="signals", rank=55, keep=50, build=build)
