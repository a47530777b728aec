"""Every card of every state as a person last approved it."""

from pathlib import Path

import pytest

from cards.card import Card
from cards.draw import card
from cards.life import State, choose
from tests.cards.cases import CASES, NOW
from tests.cards.regenerate import GOLDEN, cards, files

FILES = dict(files())


@pytest.mark.parametrize("path", sorted(FILES), ids=lambda path: path.name)
def test_a_card_looks_as_it_was_approved(path: Path) -> None:
    assert FILES[path] == path.read_text(), (
        "read the change, then: python -m tests.cards.regenerate"
    )


def test_no_golden_card_is_left_of_a_state_that_is_gone() -> None:
    assert {path.name for path in GOLDEN.iterdir()} == {path.name for path in FILES}


def test_every_state_has_its_golden_card() -> None:
    assert {choose(case) for case in CASES.values()} == set(State)


@pytest.mark.parametrize(("name", "drawn"), list(cards()), ids=lambda value: str(value)[:20])
def test_a_lock_screen_fits_a_phone(name: str, drawn: Card) -> None:
    assert 0 < len(drawn.lock_screen) <= 110


@pytest.mark.parametrize("name", [n for n in CASES if n != "first_contact"])
def test_a_lock_screen_says_how_bad_where_and_whether_it_can_wait(name: str) -> None:
    said = card(CASES[name], NOW).lock_screen
    assert CASES[name].incident.severity.value.upper() in said
    assert "checkout-api" in said or "Watchdog" in said
    assert any(wait in said for wait in ("can wait", "can't wait", "unknown if it can wait"))


@pytest.mark.parametrize("name", sorted(CASES))
def test_a_card_is_the_same_however_often_it_is_drawn(name: str) -> None:
    assert card(CASES[name], NOW) == card(CASES[name], NOW)
