"""What changed on the failing host before it fired."""

from engine.model.pack import SectionName
from engine.pack.changed import facts, logged, newest_first, section_of
from engine.pack.section import Case, Gathered, Items, PackSection, Ports, SectionNote


async def gather(case: Case) -> Gathered:
    """List the host's changes up to firing, newest first; without a host there are none."""
    items = Items("C", case)
    if case.anchor.host is None:
        return items.section(SectionName.CHANGES, note=SectionNote.NO_HOST)
    here = [c for c in await logged(case) if c.host == case.anchor.host]
    before = [facts(c, case.anchor) for c in here if c.at <= case.anchor.fired_at]
    return await section_of(SectionName.CHANGES, items, newest_first(before), case)


def _configured(ports: Ports) -> bool:
    return ports.changes is not None


SECTION = PackSection(name=SectionName.CHANGES, configured=_configured, gather=gather)
