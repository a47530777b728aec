import pytest

from cards.card import Card, Section, Text, Tone, Word
from cards.render import slack, telegram
from cards.render.limits import cut, u16


@pytest.mark.parametrize("most", [1, 5, 40])
def test_a_text_is_cut_by_what_it_measures_as_a_whole(most: int) -> None:
    def grown(text: str) -> int:
        return u16(text) + 3 * text.count("ab")

    assert grown(cut("ab" * 60, most, grown)) <= most


def test_the_plain_card_keeps_its_limit_whatever_marks_its_words_hold() -> None:
    lines = tuple((Word(text=mark * 300),) for mark in (":a:", "*b*", "_c_", "é́́", "`", "<@U1>"))
    section = Section(name="s", rank=1, blocks=(Text(lines=lines * 4),))
    made = Card(tone=Tone.FIRING, heading="é́" * 70, lock_screen="x", sections=(section,))
    assert u16(slack.plain(made).text) <= slack.MOST_CHARACTERS
    assert u16(telegram.plain(made).text) <= telegram.MOST_PLAIN
