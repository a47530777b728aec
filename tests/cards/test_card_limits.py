"""Whatever comes in, a card is within every limit and nothing in it comes alive."""

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st

from bot.cli.errors import CommandError
from bot.cli.try_card import case_of_body
from cards.card import (
    Button,
    Card,
    Caveats,
    Code,
    Line,
    Link,
    Mention,
    Quote,
    Section,
    Text,
    Tone,
    Word,
)
from cards.draw import card
from cards.notice import Notice, notice
from cards.render import markdown, slack, telegram, terminal
from cards.render.limits import clean, cut, leaf, smaller, u16
from cards.render.links import host_of, listed
from cards.thread import evidence
from tests.cards.cases import CASES, NOW
from tests.cards.hostile import poisoned
from tests.cards.surfaces import ALLOWED, faults, slack_faults, slack_texts, telegram_faults

VALUES = (
    "<10%",
    "R&D",
    "`rm -rf /`",
    "*bold*",
    "_a_b_",
    "~gone~",
    "<!channel>",
    "<!here|x>",
    "<@U0ALICE>",
    "<#C0ROOM>",
    "@here @channel @everyone",
    "<https://evil.example|Grafana>",
    "[x](http://evil.example)",
    "![x](http://evil.example/p.png)",
    "https://evil.example/a?b=1",
    "http://user:pw@runbooks.example.test.evil.example",
    "</b></code>",
    "&lt;b&gt; &amp;",
    ":fire: 10:39:20",
    "/pay checkout.py main.rs",
    "10.0.0.1:9100",
    "#incident $USD",
    "> quoted",
    "1. one\n2. two\r\n- three",
    "x" * 300,
    "y " * 900,
    "🔥" * 500,
    "👩\u200d👩\u200d👧",
    "e" + "\u0301" * 500,
    "\u202eevil\u202c مرحبا بالعالم abc שלום",
    "\u2066\u2069\u200f",
    "\x00\x1b[31mred\x07\x9b",
    "",
    " ",
    "\n",
    "...",
    "tg://user?id=1",
    "a.b.c.d.e.io " * 60,
    "`" * 500,
    "&" * 900,
    "[bold red]rich[/]",
    '"><script>alert(1)</script>',
)
TEXTS = st.one_of(
    st.sampled_from(VALUES),
    st.text(max_size=400),
    st.text("<>&`*_~@#/.:|[]()!\\-+= ab\n", max_size=200),
)
SLOW = settings(
    phases=(Phase.explicit, Phase.generate),
    deadline=None,
    max_examples=25,
    suppress_health_check=[HealthCheck.too_slow],
)


NAMES = sorted(CASES)


def test_a_value_of_ten_kilobytes_is_held() -> None:
    assert faults(card(poisoned(CASES["unconfirmed"], "y &" * 3500), NOW)) == []


@pytest.mark.parametrize("place", range(len(VALUES)))
def test_every_awkward_value_is_held_by_some_states(place: int) -> None:
    for name in (NAMES[place % len(NAMES)], NAMES[place * 7 % len(NAMES)]):
        assert faults(card(poisoned(CASES[name], VALUES[place]), NOW)) == []


@pytest.mark.parametrize("name", NAMES)
def test_every_state_holds_all_awkward_values_at_once(name: str) -> None:
    assert faults(card(poisoned(CASES[name], " ".join(VALUES)), NOW)) == []


@SLOW
@given(name=st.sampled_from(sorted(CASES)), text=TEXTS)
def test_any_text_in_any_state_is_within_every_limit(name: str, text: str) -> None:
    drawn = card(poisoned(CASES[name], text), NOW)
    assert faults(drawn) == []
    assert len(drawn.lock_screen) <= 110
    assert u16(drawn.heading) <= 150


@SLOW
@given(name=st.sampled_from(["verified", "unconfirmed", "refuted"]), text=TEXTS)
def test_any_text_in_a_thread_is_within_every_limit(name: str, text: str) -> None:
    assert faults(evidence(poisoned(CASES[name], text), NOW)) == []


SHORT = st.one_of(st.sampled_from(VALUES[:30]), st.text(max_size=60))
SPANS = st.one_of(
    st.builds(Word, text=SHORT, bold=st.booleans()),
    st.builds(Code, text=SHORT),
    st.builds(Link, label=SHORT, url=SHORT, optional=st.booleans()),
    st.builds(Mention, account=SHORT, name=SHORT),
)
LINES = st.lists(SPANS, max_size=5).map(tuple)
BLOCKS = st.one_of(
    st.builds(Text, lines=st.lists(LINES, max_size=6).map(tuple)),
    st.builds(Caveats, lines=st.lists(LINES, max_size=6).map(tuple)),
    st.builds(Quote, title=SHORT, lines=st.lists(LINES, max_size=6).map(tuple)),
)
SECTIONS = st.builds(
    Section,
    name=st.sampled_from("abcdefghijklmnopqrstuvwxyz"),
    title=LINES,
    blocks=st.lists(BLOCKS, max_size=3).map(tuple),
    rank=st.integers(0, 99),
    keep=st.integers(0, 99),
    muted=st.booleans(),
)
CARDS = st.builds(
    Card,
    tone=st.sampled_from(Tone),
    heading=SHORT,
    lock_screen=SHORT.map(lambda text: text if clean(text).strip() else "x"),
    sections=st.lists(SECTIONS, max_size=20, unique_by=lambda s: s.name).map(tuple),
    buttons=st.lists(
        st.builds(
            Button,
            action=st.sampled_from("abcdef"),
            label=SHORT.map(lambda t: f"B{t}"),
            more=st.booleans(),
        ),
        max_size=8,
    ).map(tuple),
    footer=LINES,
)


@SLOW
@given(made=CARDS)
def test_any_card_at_all_can_be_drawn(made: Card) -> None:
    assert faults(made) == []
    assert faults(smaller(made)) == []


def payloads(shared: Path) -> list[tuple[str, bytes]]:
    folder = shared / "data" / "alerts" / "alertmanager"
    return [(path.name, path.read_bytes()) for path in sorted(folder.iterdir())]


@pytest.mark.corpus
def test_every_recorded_payload_makes_a_card_in_every_state(shared: Path) -> None:
    drawn = 0
    for _, body in payloads(shared):
        try:
            made = case_of_body(body, NOW)
        except CommandError:
            continue
        for case in list(CASES.values())[drawn % 3 :: 3]:
            parts = {"group_id": made.incident.groups[0].id}
            state = made.incident.model_copy(update={"state": case.incident.state, **parts})
            both = case.model_copy(update={"incident": state, "pack": case.pack and made.pack})
            assert faults(card(both, NOW)) == []
            drawn += 1
    assert drawn > 60


@pytest.mark.corpus
def test_nothing_in_the_recorded_injections_comes_alive(shared: Path) -> None:
    lines = (shared / "data" / "injections.jsonl").read_text().splitlines()
    for line in lines:
        text = str(json.loads(line)["payload"])
        for name in ("facts", "unconfirmed"):
            case = poisoned(CASES[name], text)
            assert faults(card(case, NOW)) == []
            message = slack_texts(slack.render(card(case, NOW), ALLOWED))
            assert inert_in_slack(message)


def inert_in_slack(said: str) -> bool:
    """Whether the only things in angle brackets are dates and links to listed hosts."""
    parts = [part.split(">", 1)[0] for part in said.split("<")[1:]]
    ours = ("!date^", "https://runbooks.example.test/")
    return all(part.startswith(ours) for part in parts)


@pytest.mark.parametrize("value", VALUES)
def test_no_value_becomes_a_mention_a_link_or_a_mark_in_slack(value: str) -> None:
    drawn = card(poisoned(CASES["unconfirmed"], value), NOW)
    assert inert_in_slack(slack_texts(slack.render(drawn, ALLOWED)))
    assert inert_in_slack(slack.plain(drawn).text)
    bare = Card(
        tone=Tone.NOTICE,
        heading="h",
        lock_screen="l",
        sections=(Section(name="a", rank=1, blocks=(Text(lines=((Word(text=value),),)),)),),
    )
    said = "\n".join(b["text"]["text"] for b in slack.render(bare).blocks[1:])
    assert "`" not in said
    assert not any(f"{mark}b" in said for mark in "*~")


@pytest.mark.parametrize("value", VALUES)
def test_no_value_becomes_markup_in_markdown(value: str) -> None:
    word = Card(
        tone=Tone.NOTICE,
        heading="h",
        lock_screen="l",
        sections=(Section(name="a", rank=1, blocks=(Text(lines=((Word(text=value),),)),)),),
    )
    said = markdown.render(word).removeprefix("### ⚠ h\n")
    unescaped = [c for i, c in enumerate(said) if c in "`*_[<" and said[i - 1] != "\\"]
    assert unescaped == []
    assert "://e" not in said


def test_rich_markup_in_a_value_is_printed_as_it_is() -> None:
    drawn = card(poisoned(CASES["facts"], "[bold red]rich[/]"), NOW)
    assert "[bold red]rich[/]" in terminal.text(drawn)


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://runbooks.example.test/x", "runbooks.example.test"),
        ("http://RUNBOOKS.example.test/x", "runbooks.example.test"),
        ("https://runbooks.example.test@evil.example/", ""),
        ("https://evil.example/runbooks.example.test", "evil.example"),
        ("javascript:alert(1)", ""),
        ("tg://user?id=1", ""),
        ("https://runbooks.example.test\\@evil.example", ""),
        ("https://runbooks.example.test/a|b", ""),
        ("https://runbooks.example.test/>x", ""),
        ("//runbooks.example.test", ""),
        ("https://[::1", ""),
        ("https://x/" + "a" * 2000, ""),
    ],
)
def test_a_link_goes_only_where_its_host_says(url: str, host: str) -> None:
    assert host_of(url) == host
    assert listed("runbooks.example.test")(url) == (host == "runbooks.example.test")


def test_an_unlisted_link_is_text_and_an_optional_one_is_left_out() -> None:
    text = slack_texts(slack.render(card(CASES["facts"], NOW)))
    assert "`https://runbooks.example.test/checkout-5xx`" in text
    assert "Open graph" not in text
    assert "prometheus:9090" not in text


@pytest.mark.parametrize("size", [0, 1, 2, 5, 50])
def test_a_cut_never_leaves_half_a_character(size: int) -> None:
    assert u16(cut("🔥🔥🔥🔥🔥🔥", size)) <= size
    cut("🔥🔥🔥", size).encode("utf-8")


def test_a_lone_surrogate_is_replaced_and_right_to_left_is_held() -> None:
    assert leaf("a\ud800b", 50) == "a\ufffdb"
    word = "\u05e9\u05dc\u05d5\u05dd"
    assert leaf(f"CRITICAL · {word} · x", 50) == f"CRITICAL · \u2068{word}\u2069 · x"
    assert clean("a\x00\x1b[31mb\r\nc\t d") == "a[31mb c d"


def test_a_long_card_loses_its_least_important_lines_first() -> None:
    sections = tuple(
        Section(
            name=n,
            rank=i,
            keep=keep,
            blocks=(Text(lines=tuple(((Word(text=f"{n} {'z' * 150}"),),) * 12)),),
        )
        for i, (n, keep) in enumerate((("cause", 100), ("trivia", 1), ("steps", 50)))
    )
    made = Card(tone=Tone.FIRING, heading="h", lock_screen="l", sections=sections)
    said = slack_texts(slack.render(made))
    assert said.count("cause") == 12
    assert "trivia" not in said
    assert 0 < said.count("steps") < 12


def test_the_smaller_card_still_says_what_a_person_must_know() -> None:
    drawn = smaller(card(CASES["unconfirmed"], NOW))
    said = slack_texts(slack.render(drawn))
    assert "Possible cause" in said
    assert "unconfirmed" in said
    assert "Can it wait? No" in said
    assert "Metrics" not in said


def test_a_plain_card_still_tells_the_incident() -> None:
    drawn = card(CASES["degraded"], NOW)
    for text in (slack.plain(drawn).text, telegram.plain(drawn).text):
        assert "CRITICAL" in text
        assert "unverified — checks unavailable" in text
    assert telegram.plain(drawn).html is False
    assert slack.plain(drawn).blocks == ()


def test_tokens_ride_on_buttons_and_never_more_than_telegram_takes() -> None:
    button = Button(action="take", label="Take", token="t" * 22)
    made = card(CASES["facts"], NOW).model_copy(update={"buttons": (button,)})
    assert telegram.render(made).keyboard[0][0].data == "t" * 22
    assert slack.render(made).blocks[-1]["elements"][0]["value"] == "t" * 22


def test_a_person_is_called_by_the_account_of_the_chat_and_no_other_text() -> None:
    line: Line = (
        Mention(account="U0ALICE", name="alice"),
        Mention(account="<!channel>", name="x<!here>"),
    )
    made = Card(
        tone=Tone.FIRING,
        heading="",
        lock_screen="l",
        sections=(Section(name="a", rank=1, blocks=(Text(lines=(line,)),)),),
    )
    assert slack.render(made).blocks[0]["text"]["text"] == "<@U0ALICE>x&lt;!here&gt;"
    assert list(telegram_faults(telegram.render(made))) == []


@example(kind=Notice.DATABASE_DOWN, detail="x")
@SLOW
@given(kind=st.sampled_from(Notice), detail=TEXTS)
def test_a_notice_needs_nothing_but_its_kind(kind: Notice, detail: str) -> None:
    drawn = notice(kind, NOW, detail=detail)
    assert faults(drawn) == []
    assert list(slack_faults(slack.render(drawn))) == []
