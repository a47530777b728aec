"""Control-plane changes of the client that belong to no host."""

from engine.model.pack import ChangeKind, SectionName
from engine.pack.changed import facts, logged, nearest_first, section_of
from engine.pack.section import Case, Gathered, Items, PackSection, Ports


async def gather(case: Case) -> Gathered:
    """List cloud changes without a host, nearest to onset first."""
    found = [c for c in await logged(case) if c.kind is ChangeKind.CLOUD and c.host is None]
    changes = nearest_first(facts(c, case.anchor) for c in found)
    return await section_of(SectionName.CLOUD, Items("N", case), changes, case)


def _configured(ports: Ports) -> bool:
    return ports.changes is not None


SECTION = PackSection(name=SectionName.CLOUD, configured=_configured, gather=gather)
