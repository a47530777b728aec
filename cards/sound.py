"""What may ring; edits never do."""

from collections.abc import Mapping
from enum import StrEnum

from cards.life import State
from engine.model.alert import Severity
from engine.model.org import RoomSound

MOST_AUDIBLE = 3
"""Audible messages of one incident, its new card included."""


class Transition(StrEnum):
    """What is being sent."""

    NEW_CARD = "new_card"
    EDIT = "edit"
    FINDING = "finding"
    """The one thread reply when the finding lands."""
    SEVERITY_UP = "severity_up"
    CAUSE_CHANGED = "cause_changed"
    """Replaced or overturned after somebody took or approved."""
    DID_IT_WORK = "did_it_work"
    COMPANION = "companion"
    """Charts, audit lines, evidence."""


SILENT = frozenset(
    {State.CHRONIC_QUIET, State.PREDICTIVE, State.MERGED, State.CLOSED, State.RESOLVED}
)
"""States in which nothing rings however grave the rule says it is."""

LOUDEST: Mapping[RoomSound, int | None] = {
    RoomSound.CRITICAL: Severity.HIGH.rank,
    RoomSound.WARNING: Severity.WARNING.rank,
    RoomSound.OFF: None,
}
"""The lowest severity a room lets ring."""


def audible(
    transition: Transition, state: State, severity: Severity, sound: RoomSound, rung: int = 0
) -> bool:
    """Say whether a message may ring; `rung` counts those of this incident that did."""
    lowest = LOUDEST[sound]
    if lowest is None or rung >= MOST_AUDIBLE:
        return False
    match transition:
        case Transition.EDIT | Transition.COMPANION:
            return False
        case Transition.DID_IT_WORK | Transition.CAUSE_CHANGED:
            return True
        case _ if state is State.HEARTBEAT:
            return True
        case Transition.NEW_CARD | Transition.FINDING | Transition.SEVERITY_UP:
            return state not in SILENT and severity.rank >= lowest
