"""Every card and every form, judged by Slack's published types and by Telegram's own parser."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings

from bot.drill.doubles import slack_payloads
from bot.drill.doubles.slack import SlackDouble
from cards.card import Card
from cards.forms import form
from cards.render import slack_form, telegram
from cards.render.limits import u16
from engine.model.action import Action
from engine.model.desk import Asks, Choice, Field, FieldName
from tests.cards.cases import NOW
from tests.cards.surfaces import ALLOWED
from tests.cards.test_card_limits import CARDS
from tests.third_party import NEEDED, lit_up, parsed, tsc, typed

pytestmark = [pytest.mark.faults, pytest.mark.real(*NEEDED), pytest.mark.timeout(400)]
GOLDEN = Path(__file__).parents[1] / "cards" / "golden"
MOST_UNITS, MOST_ENTITIES = 4096, 100
OURS = {
    "textEntityTypeBold",
    "textEntityTypeItalic",
    "textEntityTypeCode",
    "textEntityTypeBlockQuote",
    "textEntityTypeExpandableBlockQuote",
    "textEntityTypeTextUrl",
    "textEntityTypeMentionName",
    "textEntityTypeDateTime",
}
"""What our own markup may become; whatever else there is lit up by itself."""


def test_slack_publishes_types_that_every_card_and_form_has() -> None:
    cards = {path.stem: json.loads(path.read_text("utf-8")) for path in GOLDEN.glob("*.json")}
    declared = [
        typed(f"card_{n}", "KnownBlock[]", card["blocks"])
        for n, card in enumerate(cards.values())
        if card["blocks"]
    ]
    fields = (
        Field(name=FieldName.CAUSE, choices=(Choice(value="a", label="<!channel> `x`"),)),
        Field(name=FieldName.OTHER_CAUSE, initial="x" * 5000, required=True),
    )
    asked = form(Asks(action=Action.WRONG_CAUSE, fields=fields))
    views = [slack_form.modal(asked, "{}"), slack_form.loading("Wrong cause")]
    declared += [typed(f"view_{n}", "ModalView", view) for n, view in enumerate(views)]
    assert len(declared) > 30
    assert tsc({"@slack/types": ["KnownBlock", "ModalView"]}, declared) == ""


def test_the_compiler_sees_a_block_that_is_none() -> None:
    wrong = [{"type": "section", "text": {"type": "markdwon", "text": "x"}}]
    said = tsc({"@slack/types": ["KnownBlock"]}, [typed("card", "KnownBlock[]", wrong)])
    assert "markdwon" in said


def test_what_our_double_delivers_has_the_fields_bolt_expects() -> None:
    double = SlackDouble(lambda: NOW)
    channel = double.channel("C0ALERTS")
    double.person("U0ALICE", "alice")
    said = double.says("C0ALERTS", "U0ALICE", "hello")
    button = {
        "type": "button",
        "action_id": "caveat.take",
        "block_id": "actions",
        "text": {"type": "plain_text", "text": "Take", "emoji": False},
        "value": "token",
        "action_ts": said.ts,
    }
    answer_at = "http://127.0.0.1:9/response"
    press = slack_payloads.press(double.space, channel, said, button, "U0ALICE", answer_at)
    command = slack_payloads.command(
        double.space, "C0ALERTS", "/engage", "why", "U0ALICE", answer_at
    )
    # Slack sends it as null outside of a grid; its types only know it left out.
    assert press.pop("enterprise") is None
    declared = [
        typed("press", "BlockAction<ButtonAction>", press),
        typed("command", "SlashCommand", dict(command)),
    ]
    assert tsc({"@slack/bolt": ["BlockAction", "ButtonAction", "SlashCommand"]}, declared) == ""


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.html")), ids=lambda path: path.stem)
def test_telegrams_own_parser_takes_every_card(path: Path) -> None:
    text, _, _ = path.read_text("utf-8").rpartition("\n<!--")
    assert faults(text) == []


@settings(max_examples=300)
@given(made=CARDS)
def test_telegrams_own_parser_takes_any_card_at_all(made: Card) -> None:
    assert faults(telegram.render(made, ALLOWED).text) == []


def test_the_parser_refuses_in_telegrams_words() -> None:
    assert "Unsupported start tag" in parsed("a <10% left")["message"]
    assert "textEntityTypeBotCommand" in lit_up("see /pay")


def faults(html: str) -> list[str]:
    """What Telegram would refuse, cut, or make of a message by itself."""
    said = parsed(html)
    if said["@type"] == "error":
        return [str(said["message"])]
    kinds = [str(entity["type"]["@type"]) for entity in said["entities"]]
    own = [kind for kind in kinds if kind not in OURS]
    size = [f"{u16(said['text'])} units"] if u16(said["text"]) > MOST_UNITS else []
    many = [f"{len(kinds)} entities"] if len(kinds) > MOST_ENTITIES else []
    return [*size, *many, *own]
