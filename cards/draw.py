"""A case becomes its card: pure, the same for every surface."""

from collections.abc import Collection, Mapping
from datetime import datetime

from cards import digest
from cards.actions import buttons
from cards.card import Card, Line, Tone
from cards.heading import heading, lock_screen
from cards.layout import LAYOUT
from cards.life import State, choose
from cards.line import joined, say
from cards.paged import section as paging
from cards.sound import Transition, audible
from engine.model.action import Action
from engine.model.org import Room, RoomSound
from engine.model.page import PageRecord
from engine.model.run import CaseFile

TONES: Mapping[State, Tone] = {
    State.RESOLVED: Tone.RESOLVED,
    State.CLOSED: Tone.CLOSED,
    State.MERGED: Tone.MERGED,
}
ALL = frozenset(Action)


def card(
    case: CaseFile,
    now: datetime,
    *,
    room: Room | None = None,
    revision: int = 0,
    offered: Collection[Action] = ALL,
    paged: PageRecord | None = None,
) -> Card:
    """Draw the one card of an incident.

    Args:
        case: everything known of it.
        now: the moment of drawing.
        room: where it goes.
        revision: number of the drawing.
        offered: actions that have a desk.
        paged: who was paged for it.
    """
    state = choose(case)
    if state is State.FIRST_CONTACT and len(case.incident.groups) > 1:
        return digest.first_contact(case, now, offered=offered)
    sections = [part.section(case, now) for part in LAYOUT[state]]
    if paged is not None and state not in TONES:
        sections.append(paging(paged, case.incident.severity, room))
    return Card(
        tone=TONES.get(state, Tone.FIRING),
        heading=heading(case),
        lock_screen=lock_screen(case),
        sections=tuple(sorted(filter(None, sections), key=lambda section: section.rank)),
        buttons=buttons(
            state,
            offered,
            case.finding,
            several=len(case.incident.groups) > 1,
            taken=bool(case.taken_by),
        ),
        audible=_rings(case, state, room, now),
        footer=_footer(case, revision),
        facts={"state": state.value, "incident": case.incident.id, "revision": str(revision)},
    )


def _rings(case: CaseFile, state: State, room: Room | None, now: datetime) -> bool:
    sound = room.sound if room else RoomSound.CRITICAL
    if case.muted_until is not None and case.muted_until > now:
        return False
    return audible(Transition.NEW_CARD, state, case.incident.severity, sound)


def _footer(case: CaseFile, revision: int) -> Line:
    number = say(f"incident {case.incident.number}") if case.incident.number else ()
    return joined((number, say(f"rev {revision}") if revision else ()))
