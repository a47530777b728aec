"""Whether somebody is paged: decided by escalation routes and one flag, and by nothing else.

Nothing here knows of investigations, models or their flags, and no investigation can reach it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from engine.model.base import Frozen
from engine.model.incident import Incident, IncidentState
from engine.model.org import DRILL_CLIENT
from engine.model.page import (
    EscalationRoute,
    NoPage,
    NotPaged,
    Paged,
    PageDecision,
    PageTrigger,
)


@dataclass(frozen=True)
class Escalation:
    """What pages of one client are decided by."""

    oncall_enabled: bool
    routes: tuple[EscalationRoute, ...] = ()


class Before(Frozen):
    """What an incident was before something was heard of it."""

    state: IncidentState
    rank: int
    """Of its severity."""
    first_contact: bool

    @classmethod
    def of(cls, incident: Incident) -> "Before":
        """Remember it."""
        rank = incident.severity.rank
        return cls(state=incident.state, rank=rank, first_contact=incident.first_contact)


class Pages(Protocol):
    """Pages, written in the transaction of what they are about."""

    async def page(self, incident: Incident, paged: Paged) -> None:
        """Have a route's pagers called, and its people named on the card."""

    async def spared(self, incident: Incident, reason: NoPage) -> None:
        """Remember why nobody was paged, unless somebody was before."""

    async def acknowledge(self, incident_id: str) -> None:
        """Have every pager that was called told that somebody works on it.

        What was merged into it is meant as well.
        """

    async def resolve(self, incident_ids: Sequence[str]) -> None:
        """Have every pager that was called told that it is over, and what was merged into it."""


def decide(
    incident: Incident,
    *,
    oncall_enabled: bool,
    routes: Sequence[EscalationRoute],
    trigger: PageTrigger,
) -> PageDecision:
    """Decide one page; the first route that fits and is meant for such a severity is taken."""
    if incident.client_id == DRILL_CLIENT:
        return NotPaged(reason=NoPage.DRILL)
    if not oncall_enabled:
        return NotPaged(reason=NoPage.ONCALL_DISABLED)
    labels = incident.lead.alert.labels
    fitting = [route for route in routes if _fits(route.match, labels)]
    if not fitting:
        return NotPaged(reason=NoPage.NO_ROUTE)
    grave = [route for route in fitting if incident.severity.rank >= route.least.rank]
    if not grave:
        return NotPaged(reason=NoPage.SEVERITY)
    return Paged(route=grave[0], trigger=trigger)


def _fits(match: Mapping[str, str], labels: Mapping[str, str]) -> bool:
    return all(labels.get(name) == value for name, value in match.items())


def trigger_of(before: Before | None, incident: Incident) -> PageTrigger | None:
    """What of an incident's change calls for a decision; None when nothing does.

    Args:
        before: what it was; None for one that is new.
        incident: what it is now.
    """
    if incident.state is not IncidentState.OPEN or incident.first_contact:
        return None
    if before is None or before.first_contact:
        return PageTrigger.OPENED
    if before.state is not IncidentState.OPEN:
        return PageTrigger.REOPENED
    return PageTrigger.SEVERITY if incident.severity.rank > before.rank else None


async def page(
    pages: Pages,
    changed: Iterable[tuple[Before | None, Incident]],
    escalation: Escalation,
) -> list[PageDecision]:
    """Decide about every incident that changed, and tell pagers of those that are over."""
    decided: list[PageDecision] = []
    over: list[str] = []
    for before, incident in changed:
        trigger = trigger_of(before, incident)
        if trigger is not None:
            decided.append(await _page_one(pages, incident, escalation, trigger))
        elif before is not None and _is_over(before, incident):
            over.append(incident.id)
    await pages.resolve(over)
    return decided


def _is_over(before: Before, incident: Incident) -> bool:
    """Whether it ended; the pages of one that was merged end with what took it over."""
    going_on = (IncidentState.OPEN, IncidentState.MERGED)
    return before.state is IncidentState.OPEN and incident.state not in going_on


async def _page_one(
    pages: Pages, incident: Incident, escalation: Escalation, trigger: PageTrigger
) -> PageDecision:
    decision = decide(
        incident,
        oncall_enabled=escalation.oncall_enabled,
        routes=escalation.routes,
        trigger=trigger,
    )
    match decision:
        case Paged():
            await pages.page(incident, decision)
        case NotPaged(reason=reason) if escalation.routes:
            # A client without any route never asked for paging: its cards do not speak of it.
            await pages.spared(incident, reason)
        case NotPaged():
            pass
    return decision
