"""What the cluster says of the failing scope around onset: kills, failed pulls, evictions."""

from collections.abc import Mapping, Sequence

from engine.model.evidence import Answered, Invalid, Question
from engine.model.pack import SectionName
from engine.pack.lines import Said, alike, gap_of, newest_kind_first, told, window_of
from engine.pack.section import Case, Gathered, Items, PackSection, Ports, SectionNote

NODES = "default"
"""The namespace a cluster keeps the events of its nodes in."""
_WARNING = "Warning"


async def gather(case: Case) -> Gathered:
    """List events of what fails, then warnings of its neighbours; the rest is counted."""
    items = Items("K", case)
    place = _place(case)
    backend = case.ports.kubernetes
    assert backend is not None, "the section is not gathered without"
    if not place:
        return items.section(SectionName.KUBERNETES, note=SectionNote.NO_SCOPE)
    outcome = await backend.ask(Question(tool=backend.name, queries=place, window=window_of(case)))
    gap = gap_of(outcome)
    if isinstance(outcome, Invalid) and gap is None:
        return items.section(SectionName.KUBERNETES, note=SectionNote.NO_SCOPE)
    if isinstance(outcome, Answered):
        items.leave_out(outcome.truncated)
        _list(alike(outcome.lines), items, case)
    return items.section(SectionName.KUBERNETES, gap=gap)


def _place(case: Case) -> Mapping[str, str]:
    """Say where the events are: the namespace of what fails, or the node that does."""
    namespace = case.incident.group_of(case.incident.lead).scope.get("namespace")
    if namespace:
        return {"namespace": namespace}
    host = case.anchor.host
    return {"namespace": NODES, "name": host} if host else {}


def _list(found: Sequence[Said], items: Items, case: Case) -> None:
    names = _names(case)
    ranked = newest_kind_first(found, case.anchor.onset_at)
    own = [one for one in ranked if any(name in one.text for name in names)]
    others = [one for one in ranked if not any(name in one.text for name in names)]
    warnings = [one for one in others if one.text.startswith(_WARNING)]
    own.sort(key=lambda one: not one.text.startswith(_WARNING))
    for one in (*own, *warnings):
        items.add(told(one, case))
    items.leave_out(len(others) - len(warnings))


def _names(case: Case) -> list[str]:
    """Name what fails as its objects are called."""
    scope = case.incident.group_of(case.incident.lead).scope
    known = (*(scope.get(name) for name in ("workload", "service")), case.anchor.host)
    return [name for name in known if name]


def _configured(ports: Ports) -> bool:
    return ports.kubernetes is not None


SECTION = PackSection(name=SectionName.KUBERNETES, configured=_configured, gather=gather)
