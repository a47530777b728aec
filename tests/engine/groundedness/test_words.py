"""Text is cut into words with what stands around them."""

import pytest

from engine.groundedness.words import LONGEST_TEXT, LONGEST_WORD, word_after, words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('the "pod": api, x', [("api", "", "pod")]),
        ("a :b", [("b", "", "a")]),
        ("a : b", [("b", "", "a")]),
        ("x ::1 y", [("::1", "x", "")]),
        ("n: Value Other1", [("n", "", ""), ("Value", "n", "n"), ("Other1", "value", "")]),
        ("reason: a1. b2", [("reason", "", ""), ("a1", "reason", "reason"), ("b2", "", "")]),
        ("k=v a= b", [("k=v", "", ""), ("a=", "k=v", ""), ("b", "a=", "a")]),
        ("x1; y1? z1! w1", [("x1", "", ""), ("y1", "", ""), ("z1", "", ""), ("w1", "", "")]),
        ("n1,n2, n3", [("n1", "", ""), ("n2", "n1", ""), ("n3", "n2", "")]),
        ("1,248 17:15:01,032", [("1,248", "", ""), ("17:15:01,032", "1,248", "")]),
        ("~1,248 -1,2", [("~1,248", "", ""), ("-1,2", "~1,248", "")]),
        ("*b1* :c1", [("b1", "", ""), ("c1", "", "b1")]),
        ("Title lower UPPER mIxed", [("UPPER", "lower", ""), ("mIxed", "upper", "")]),
        ("event Killing, the Killing", [("Killing", "event", "")]),
        ("-n shop", [("-n", "", ""), ("shop", "-n", "")]),
        ("a1… ?! b1", [("a1", "", ""), ("b1", "a1", "")]),
    ],
)  # fmt: skip
def test_a_word_knows_the_one_before_it_and_the_name_it_is_the_value_of(
    text: str, expected: list[tuple[str, str, str]]
) -> None:
    assert [(w.text, w.before, w.key) for w in words(text)] == expected


def test_plain_words_come_where_they_are_wanted() -> None:
    assert [w.text for w in words("five of Five", {"five"})] == ["five"]


def test_a_word_knows_its_place_and_the_characters_beside_it() -> None:
    (word,) = words('see "b1?",')
    assert (word.start, word.end, word.opener, word.closer) == (5, 7, '"', "?")
    (alone,) = words("b1")
    assert (alone.start, alone.opener, alone.closer) == (0, "", "")


@pytest.mark.parametrize(
    ("text", "after"),
    [("b1 gone.", "gone"), ("b1, gone", ""), ("b1", ""), ("b1(gone)", ""), ("b1   gone", "gone")],
)
def test_the_word_after_belongs_to_the_same_phrase(text: str, after: str) -> None:
    assert word_after(text, next(words(text))) == after


def test_what_is_longer_than_any_name_is_left_out_with_what_it_named() -> None:
    most = "1" * LONGEST_WORD
    assert [w.text for w in words(f"{most} {most}1 b1")] == [most, "b1"]
    assert [(w.text, w.before, w.key) for w in words(f"k: {most}1 b1")][1:] == [("b1", "", "")]
    assert [(w.text, w.before, w.key) for w in words(f"k {most}1 b1")] == [("b1", "", "")]


def test_a_text_is_read_up_to_its_longest() -> None:
    assert [w.text for w in words(" " * (LONGEST_TEXT - 1) + "12")] == ["1"]
