"""What rings and what does not."""

import pytest

from cards.draw import card
from cards.life import State
from cards.sound import Transition, audible
from engine.model.alert import Severity
from engine.model.org import Platform, Room, RoomSound
from tests.cards.cases import CASES, NOW, case, incident

CRITICAL, HIGH, WARNING, INFO = Severity.CRITICAL, Severity.HIGH, Severity.WARNING, Severity.INFO
DEFAULT, ALL_, OFF = RoomSound.CRITICAL, RoomSound.WARNING, RoomSound.OFF
NEW, EDIT, FINDING = Transition.NEW_CARD, Transition.EDIT, Transition.FINDING


@pytest.mark.parametrize(
    ("transition", "state", "severity", "sound", "rung", "rings"),
    [
        (NEW, State.FACTS, CRITICAL, DEFAULT, 0, True),
        (NEW, State.FACTS, HIGH, DEFAULT, 0, True),
        (NEW, State.FACTS, WARNING, DEFAULT, 0, False),
        (NEW, State.FACTS, WARNING, ALL_, 0, True),
        (NEW, State.FACTS, INFO, ALL_, 0, False),
        (NEW, State.FACTS, Severity.UNKNOWN, ALL_, 0, False),
        (NEW, State.FACTS, CRITICAL, OFF, 0, False),
        (NEW, State.CHRONIC_QUIET, CRITICAL, ALL_, 0, False),
        (NEW, State.PREDICTIVE, CRITICAL, ALL_, 0, False),
        (NEW, State.HEARTBEAT, WARNING, DEFAULT, 0, True),
        (NEW, State.NOT_INVESTIGATED, CRITICAL, DEFAULT, 0, True),
        (EDIT, State.FACTS, CRITICAL, ALL_, 0, False),
        (EDIT, State.HEARTBEAT, CRITICAL, ALL_, 0, False),
        (Transition.COMPANION, State.VERIFIED, CRITICAL, ALL_, 0, False),
        (FINDING, State.VERIFIED, CRITICAL, DEFAULT, 1, True),
        (FINDING, State.VERIFIED, WARNING, DEFAULT, 0, False),
        (Transition.SEVERITY_UP, State.FACTS, HIGH, DEFAULT, 1, True),
        (Transition.CAUSE_CHANGED, State.UNCONFIRMED, WARNING, DEFAULT, 2, True),
        (Transition.DID_IT_WORK, State.VERIFIED, WARNING, DEFAULT, 0, True),
        (Transition.DID_IT_WORK, State.VERIFIED, CRITICAL, DEFAULT, 3, False),
        (FINDING, State.VERIFIED, CRITICAL, DEFAULT, 3, False),
    ],
)
def test_what_rings(
    transition: Transition,
    state: State,
    severity: Severity,
    sound: RoomSound,
    rung: int,
    rings: bool,
) -> None:
    assert audible(transition, state, severity, sound, rung) is rings


def test_an_incident_rings_at_most_three_times() -> None:
    rung = 0
    for _ in range(20):
        for transition in Transition:
            rung += audible(transition, State.FACTS, CRITICAL, ALL_, rung)
    assert rung == 3


@pytest.mark.parametrize(
    ("name", "rings"),
    [
        ("facts", True),
        ("chronic_quiet", False),
        ("predictive", False),
        ("heartbeat", True),
        ("first_contact", False),
        ("merged", False),
    ],
)
def test_a_new_card_rings_by_its_state(name: str, rings: bool) -> None:
    assert card(CASES[name], NOW).audible is rings


@pytest.mark.parametrize(("sound", "rings"), [(DEFAULT, False), (ALL_, True), (OFF, False)])
def test_a_room_decides_from_which_severity_it_rings(sound: RoomSound, rings: bool) -> None:
    room = Room(id="r1", platform=Platform.SLACK, chat="C1", sound=sound)
    assert card(case(incident=incident(severity=WARNING)), NOW, room=room).audible is rings
