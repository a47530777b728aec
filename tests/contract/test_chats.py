"""What the outbox may rely on, of every chat alike."""

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pydantic import SecretStr

from bot.chats.chat import (
    Absent,
    Ambiguous,
    Chat,
    Gone,
    RateLimited,
    Refused,
    RoomBroken,
    Sent,
    Shape,
    TokenDead,
    Unchanged,
    Unreachable,
)
from bot.chats.slack.outbox import SlackChat
from bot.chats.telegram.outbox import TelegramChat
from bot.config import SlackSettings, TelegramSettings
from bot.drill.doubles import slack as slack_double
from bot.drill.doubles import telegram as telegram_double
from bot.drill.doubles.faults import Fault, ReplyLost, answer, bad_gateway
from bot.drill.doubles.serve import serve
from cards import draw, thread
from engine.model.org import Platform, Room
from tests.cards import cases

NOW = datetime(2026, 11, 30, 19, tzinfo=UTC)
CARD = draw.card(cases.case(), cases.NOW, offered=())
OTHER = draw.card(cases.found(cases.finding()), cases.NOW, offered=())
REPLY = thread.finding_reply(cases.found(cases.finding()))
RICH, PLAIN = Shape(), Shape(plain=True)
METHODS = {
    Platform.SLACK: ("chat.postMessage", "chat.update"),
    Platform.TELEGRAM: ("sendMessage", "editMessageText"),
}


@dataclass
class Place:
    """A chat, its room and its double."""

    chat: Chat
    room: Room
    double: Any

    def fails(self, fault: Fault, *, edit: bool = False) -> None:
        self.double.fail_next(METHODS[self.chat.platform][edit], fault)

    async def post(self, nonce: str = "n1") -> Any:
        return await self.chat.post(self.room, CARD, RICH, nonce=nonce, audible=True)

    @property
    def texts(self) -> list[str]:
        if self.chat.platform is Platform.SLACK:
            return [f"{m.text} {m.blocks}" for m in self.double.cards("C1")]
        return [m.text for m in self.double.messages(-1001)]


@asynccontextmanager
async def slack() -> AsyncIterator[Place]:
    double = slack_double.SlackDouble(lambda: NOW)
    double.channel("C1")
    double.space.channels["C1"].name = "sre"
    async with serve(double.app) as url:
        settings = SlackSettings(bot_token=SecretStr(double.token), base_url=f"{url}/api/")
        room = Room(id="s", platform=Platform.SLACK, chat="#sre")
        yield Place(SlackChat.from_settings(settings), room, double)


@asynccontextmanager
async def telegram() -> AsyncIterator[Place]:
    double = telegram_double.TelegramDouble(lambda: NOW)
    double.chat(-1001)
    async with serve(double.app) as url:
        settings = TelegramSettings(token=SecretStr(double.token), base_url=f"{url}/bot")
        chat = TelegramChat.from_settings(settings)
        yield Place(chat, Room(id="t", platform=Platform.TELEGRAM, chat="-1001"), double)
        await chat.close()


@pytest.fixture(params=[slack, telegram], ids=["slack", "telegram"])
async def place(request: pytest.FixtureRequest) -> AsyncIterator[Place]:
    async with request.param() as made:
        yield made


async def test_a_post_gives_the_ids_of_message_and_room(place: Place) -> None:
    sent = await place.post()
    assert isinstance(sent, Sent)
    assert sent.chat_id in ("C1", "-1001")
    edited = await place.chat.edit(place.room, sent.ref, OTHER, RICH, "n1")
    assert edited == Sent(ref=sent.ref)
    assert len(place.texts) == 1
    assert "Likely cause" in place.texts[0]


async def test_a_reply_stands_below_the_card(place: Place) -> None:
    sent = await place.post()
    assert REPLY is not None
    reply = await place.chat.reply(place.room, sent.ref, REPLY, RICH, nonce="n2", audible=True)
    assert isinstance(reply, Sent)
    assert reply.ref != sent.ref


async def test_a_plain_card_still_tells_the_incident(place: Place) -> None:
    await place.chat.post(place.room, CARD, PLAIN, nonce="n1", audible=False)
    assert "CheckoutHighErrorRate" in place.texts[0]


async def test_a_message_that_is_gone_says_so(place: Place) -> None:
    ref = "1.000001" if place.chat.platform is Platform.SLACK else "99"
    assert isinstance(await place.chat.edit(place.room, ref, CARD, RICH, "n"), Gone)


async def test_what_is_drawn_depends_on_the_card_alone(place: Place) -> None:
    assert place.chat.draw(CARD, RICH) == place.chat.draw(CARD, RICH)
    assert place.chat.draw(CARD, RICH) != place.chat.draw(OTHER, RICH)


FAULTS: list[tuple[str, Fault, Fault, type]] = [
    ("lost", ReplyLost(accepted=True), ReplyLost(accepted=True), Ambiguous),
    ("page", bad_gateway(), bad_gateway(), Ambiguous),
    (
        "down",
        answer(500, {"ok": False, "error": "internal_error"}),
        answer(500, {"ok": False, "error_code": 500, "description": "Internal"}),
        Ambiguous,
    ),
    ("fatal", slack_double.refused("fatal_error"), bad_gateway(), Ambiguous),
    (
        "blocks",
        slack_double.refused("invalid_blocks"),
        telegram_double.refused(400, "Bad Request: can't parse entities: x"),
        Refused,
    ),
    (
        "long",
        slack_double.refused("msg_too_long"),
        telegram_double.refused(400, "Bad Request: message is too long"),
        Refused,
    ),
    (
        "kicked",
        slack_double.refused("not_in_channel"),
        telegram_double.refused(403, "Forbidden: bot was kicked from the supergroup chat"),
        RoomBroken,
    ),
    (
        "nowhere",
        slack_double.refused("channel_not_found"),
        telegram_double.refused(400, "Bad Request: chat not found"),
        RoomBroken,
    ),
    (
        "rights",
        slack_double.refused("is_archived"),
        telegram_double.refused(400, "Bad Request: not enough rights to send text messages"),
        RoomBroken,
    ),
    (
        "token",
        slack_double.refused("token_revoked"),
        telegram_double.refused(401, "Unauthorized"),
        TokenDead,
    ),
]


@pytest.mark.parametrize(("slacks", "telegrams", "kind"), [f[1:] for f in FAULTS])
async def test_a_fault_is_told_by_what_must_be_done(
    place: Place, slacks: Fault, telegrams: Fault, kind: type
) -> None:
    place.fails(slacks if place.chat.platform is Platform.SLACK else telegrams)
    assert isinstance(await place.post(), kind)


async def test_a_limit_says_how_long(place: Place) -> None:
    made = slack_double if place.chat.platform is Platform.SLACK else telegram_double
    place.fails(made.rate_limited(7))
    assert await place.post() == RateLimited(wait_s=7)


async def test_a_lost_post_is_found_by_its_nonce_or_the_chat_says_it_cannot_look(
    place: Place,
) -> None:
    place.fails(ReplyLost(accepted=True))
    await place.post("n7")
    since = NOW - timedelta(seconds=1)
    found = await place.chat.find(place.room, "n7", None, since)
    other = await place.chat.find(place.room, "n8", None, since)
    assert isinstance(found, Sent) is place.chat.traits.finds
    assert isinstance(other, Absent) is place.chat.traits.finds


async def test_a_client_repeats_nothing_by_itself(place: Place) -> None:
    place.fails(ReplyLost(accepted=True))
    await place.post()
    assert len(place.double.calls) == 1


async def test_nobody_listening_means_nothing_was_posted() -> None:
    token = SecretStr("700000001:x")
    away = "http://127.0.0.1:9/"
    slack_room = Room(id="s", platform=Platform.SLACK, chat="C1")
    chat = SlackChat.from_settings(SlackSettings(bot_token=token, base_url=away))
    posted = await chat.post(slack_room, CARD, RICH, nonce="n", audible=True)
    assert isinstance(posted, Unreachable)
    bot = TelegramChat.from_settings(TelegramSettings(token=token, base_url=f"{away}bot"))
    room = Room(id="t", platform=Platform.TELEGRAM, chat="-1001")
    assert isinstance(await bot.post(room, CARD, RICH, nonce="n", audible=True), Unreachable)
    await bot.close()


async def test_telegram_is_silent_when_told_and_calls_an_equal_edit_unchanged() -> None:
    async with telegram() as place:
        sent = await place.chat.post(place.room, CARD, RICH, nonce="n", audible=False)
        assert isinstance(sent, Sent)
        assert not place.double.audible(-1001)
        again = await place.chat.edit(place.room, sent.ref, CARD, RICH, "n")
        assert again == Unchanged()


async def test_a_closed_topic_sends_the_card_to_the_chat_itself() -> None:
    async with telegram() as place:
        place.double.space.chats[-1001].topics = {5: True, 6: False}
        for topic, thread_id in ((5, 5), (6, None), (7, None)):
            room = place.room.model_copy(update={"topic": topic})
            await place.chat.post(room, CARD, RICH, nonce="n", audible=True)
            assert place.double.messages(-1001)[-1].thread_id == thread_id


async def test_a_reply_to_a_card_that_is_gone_stands_alone() -> None:
    async with telegram() as place:
        assert REPLY is not None
        sent = await place.chat.reply(place.room, "99", REPLY, RICH, nonce="n", audible=True)
        assert isinstance(sent, Sent)


async def test_no_preview_of_a_link_is_asked_for(place: Place) -> None:
    await place.post()
    given = str(place.double.calls[0].given)
    assert "unfurl_links" in given or '"is_disabled"' in given


async def test_no_token_reaches_the_log(place: Place, caplog: pytest.LogCaptureFixture) -> None:
    for name in ("telegram", "slack_sdk"):
        caplog.set_level(logging.INFO, name)
    place.fails(telegram_double.refused(401, "Unauthorized"))
    said = await place.post()
    assert place.double.token not in caplog.text + str(said)
