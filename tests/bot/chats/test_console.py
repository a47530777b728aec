"""The terminal and the log as chats."""

import io
import logging

import pytest
from rich.console import Console

from bot.chats.chat import Sent, Shape
from bot.chats.console.log import LogChat
from bot.chats.console.outbox import ConsoleChat, folded
from bot.chats.table import chats
from bot.config import Settings
from cards import draw, thread
from engine.model.org import Platform, Room
from tests.cards import cases

ROOM = Room(id="default:console:log:0", platform=Platform.CONSOLE, chat="log")
CASE = cases.found(cases.finding())
CARD = draw.card(CASE, cases.NOW, offered=())


def terminal() -> tuple[ConsoleChat, io.StringIO]:
    out = io.StringIO()
    return ConsoleChat(Console(file=out, width=88)), out


async def test_a_card_is_printed_when_it_is_new_and_when_it_changed() -> None:
    chat, out = terminal()
    sent = await chat.post(ROOM, CARD, Shape(), nonce="n", audible=True)
    assert isinstance(sent, Sent)
    await chat.edit(ROOM, sent.ref, CARD, Shape(), "n")
    assert out.getvalue().count("CheckoutHighErrorRate · checkout-api") == 2


async def test_a_reply_is_folded_to_a_few_lines() -> None:
    chat, out = terminal()
    await chat.reply(ROOM, "1", thread.evidence(CASE, cases.NOW), Shape(), nonce="n", audible=False)
    assert "more lines" in out.getvalue()
    assert len(out.getvalue().splitlines()) <= 12


def test_markup_in_a_reply_is_shown_as_it_stands() -> None:
    made = cases.finding(root_cause="[red]x[/red]")
    reply = thread.finding_reply(cases.found(made))
    assert reply is not None
    assert "[red]x[/red]" in folded(reply).plain


@pytest.mark.parametrize(("audible", "level"), [(True, "WARNING"), (False, "INFO")])
async def test_the_log_has_one_line_a_card(
    audible: bool, level: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    await LogChat().post(ROOM, CARD, Shape(), nonce="n", audible=audible)
    (record,) = caplog.records
    assert record.levelname == level
    assert "CheckoutHighErrorRate" in record.getMessage()
    assert "\n" not in record.getMessage()


def test_without_tokens_there_is_the_log_and_with_a_console_the_console() -> None:
    assert isinstance(chats(Settings())[Platform.CONSOLE], LogChat)
    made = chats(Settings(), Console(file=io.StringIO()))
    assert list(made) == [Platform.CONSOLE]
    assert isinstance(made[Platform.CONSOLE], ConsoleChat)
