"""The family's own past, and which rule spoke first this time."""

from engine.model.pack import HistoryFacts, SectionName
from engine.pack.figures import moment, span
from engine.pack.section import Case, Gathered, Items, PackSection, Ports


async def gather(case: Case) -> Gathered:
    """Say the order of the rules where there are several, then what happened before."""
    items = Items("H", case)
    first = _first_rule(case)
    if first:
        items.add(first)
    past = case.subject.history
    if past is not None and (past.occurrences > 1 or past.last_at is not None):
        cause = past.last_root_cause
        told = past.model_copy(update={"last_root_cause": cause and case.ports.clean(cause)})
        items.add(_past(told), told)
    return items.section(SectionName.HISTORY)


def _first_rule(case: Case) -> str:
    started: dict[str, float] = {}
    for member in case.incident.members:
        at = member.alert.starts_at.timestamp()
        started[member.alert.rule] = min(at, started.get(member.alert.rule, at))
    if len(started) < 2:  # noqa: PLR2004 an order needs two
        return ""
    (rule, at), (second, later) = sorted(started.items(), key=lambda pair: (pair[1], pair[0]))[:2]
    return f"{rule} fired first, {span(later - at)} before {second}"


def _past(past: HistoryFacts) -> str:
    often = f"{past.occurrences} times" if past.occurrences > 1 else "once"
    parts = [f"fired {often} in {span(past.window_s)}"]
    if past.last_at is not None:
        parts.append(f"last {past.last_at:%Y-%m-%d} {moment(past.last_at)}")
    if past.last_root_cause:
        stamped = f" ({past.last_trust})" if past.last_trust else ""
        parts.append(f"last finding{stamped}: {past.last_root_cause}")
    return "; ".join(parts)


def _configured(_: Ports) -> bool:
    return True


SECTION = PackSection(
    name=SectionName.HISTORY, configured=_configured, gather=gather, anchored=False
)
