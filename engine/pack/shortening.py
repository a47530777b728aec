"""A pack that is too long for its model, made shorter once: what tells least goes first."""

from collections.abc import Sequence

from engine.model.pack import Item, Pack, Section
from engine.pack.section import SectionNote

SHARE = 0.5
"""How much of its words a shorter revision keeps, as far as it can."""
LONGEST_CHARACTERS = 400
"""No piece of evidence is longer in it."""
_CUT = "…"


def shortened(pack: Pack) -> Pack:
    """Make the next revision of a pack, about half as long.

    What suspects and impact rest on stays, and so does the first item of every section. Of the
    rest the last of the longest section goes first: sections hold what matters most ahead.
    """
    bearing = {id_ for suspect in pack.suspects for id_ in suspect.evidence_ids}
    bearing |= set(pack.impact.evidence_ids)
    kept = [[_cut(item) for item in section.items] for section in pack.sections]
    most = SHARE * sum(_length(section.items) for section in pack.sections)
    while sum(map(_length, kept)) > most:
        loose = [items for items in kept if _loose(items, bearing)]
        if not loose:
            break
        longest = max(loose, key=_length)
        longest.remove(_loose(longest, bearing)[-1])
    sections = [_with(own, items) for own, items in zip(pack.sections, kept, strict=True)]
    return pack.model_copy(update={"revision": pack.revision + 1, "sections": tuple(sections)})


def _loose(items: Sequence[Item], bearing: set[str]) -> list[Item]:
    return [item for item in items[1:] if item.id not in bearing]


def _length(items: Sequence[Item]) -> int:
    return sum(len(item.text) for item in items)


def _cut(item: Item) -> Item:
    if len(item.text) <= LONGEST_CHARACTERS:
        return item
    return item.model_copy(update={"text": item.text[: LONGEST_CHARACTERS - 1] + _CUT})


def _with(section: Section, items: Sequence[Item]) -> Section:
    """Give a section fewer items, and have it say so."""
    if tuple(items) == section.items:
        return section
    omitted = section.omitted + len(section.items) - len(items)
    note = " ".join(filter(None, [section.note, SectionNote.SHORTENED]))
    return section.model_copy(update={"items": tuple(items), "omitted": omitted, "note": note})
