"""The Telegram double, through python-telegram-bot."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from telegram import Bot, InlineKeyboardButton, InlineKeyboardMarkup, ReplyParameters
from telegram.error import (
    BadRequest,
    ChatMigrated,
    Conflict,
    Forbidden,
    InvalidToken,
    NetworkError,
    RetryAfter,
    TimedOut,
)
from telegram.request import HTTPXRequest

from bot.drill.doubles.faults import Hang, ReplyLost, Slow, answer, bad_gateway
from bot.drill.doubles.serve import serve
from bot.drill.doubles.telegram import TelegramDouble, rate_limited, refused
from bot.drill.doubles.telegram_html import Entity, Formatted, parse
from bot.drill.doubles.telegram_keyboard import markup_of
from bot.drill.doubles.telegram_messages import text_of
from bot.drill.doubles.telegram_words import RefusedError

START = datetime(2026, 11, 30, 19, 0, tzinfo=UTC)
ROOM = -1001


class Wall:
    def __init__(self) -> None:
        self.at = START

    def __call__(self) -> datetime:
        return self.at


@asynccontextmanager
async def room(**more: Any) -> AsyncIterator[tuple[TelegramDouble, Bot, Wall]]:
    wall = Wall()
    telegram = TelegramDouble(wall, **more)
    telegram.chat(ROOM)
    telegram.person(7, "Alice", "administrator")
    async with serve(telegram.app) as url, client_of(telegram, url) as bot:
        yield telegram, bot, wall


def client_of(telegram: TelegramDouble, url: str, read_timeout_s: float = 5) -> Bot:
    """Make a client; over loopback there is no certificate to load."""
    plain = [
        HTTPXRequest(read_timeout=read_timeout_s, httpx_kwargs={"verify": False}) for _ in range(2)
    ]
    return Bot(
        telegram.token, base_url=f"{url}/bot", request=plain[0], get_updates_request=plain[1]
    )


def keys(*rows: list[InlineKeyboardButton]) -> InlineKeyboardMarkup:
    return InlineKeyboardMarkup(rows)


def key(text: str = "Take", **does: Any) -> InlineKeyboardButton:
    return InlineKeyboardButton(text, **(does or {"callback_data": "t1"}))


def descriptions(telegram: TelegramDouble) -> list[str]:
    return [call.error for call in telegram.calls if call.error]


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("a <10% left", 'Unsupported start tag "10%" at byte offset 2'),
        ("é <b", "Unclosed start tag at byte offset 3"),
        ("<b>oops", 'Can\'t find end tag corresponding to start tag "b"'),
        (
            "<b><i>x</b></i>",
            'Unmatched end tag at byte offset 7, expected "</i>", found "</b>"',
        ),
        ("x</b>", "Unexpected end tag at byte offset 1"),
        ("<h1>no</h1>", 'Unsupported start tag "h1" at byte offset 0'),
        ("one<br>two", 'Unsupported start tag "br" at byte offset 3'),
        ("<span>x</span>", 'Tag "span" must have class "tg-spoiler" at byte offset 0'),
        ('<a ="x">y</a>', 'Empty attribute name in the tag "a" at byte offset 0'),
        ("<b>x</b", "Unclosed end tag at byte offset 4"),
    ],
)
def test_bad_html_is_refused_in_telegrams_words(source: str, reason: str) -> None:
    with pytest.raises(RefusedError) as caught:
        parse(source)
    assert caught.value.description == f"Bad Request: can't parse entities: {reason}"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("R&D &unknown; &lt;b&gt; &#128293;", Formatted("R&D &unknown; <b> 🔥")),
        ("🔥<b>hot</b>", Formatted("🔥hot", (Entity("b", 2, 3),))),
        ("<code>a &amp; b</code>", Formatted("a & b", (Entity("code", 0, 5),))),
        (
            "<blockquote expandable>q</blockquote>",
            Formatted("q", (Entity("blockquote", 0, 1, "expandable"),)),
        ),
        (
            '<a href="https://x.example/?a=1&amp;b=2">l</a>',
            Formatted("l", (Entity("a", 0, 1, "https://x.example/?a=1&b=2"),)),
        ),
        ('<a href="http://grafana/d/1">l</a>', Formatted("l")),
        (
            '<tg-time unix="1796067516" format="wDT">19:38</tg-time>',
            Formatted("19:38", (Entity("tg-time", 0, 5, "1796067516"),)),
        ),
        ("<b></b>x", Formatted("x")),
    ],
)
def test_html_becomes_text_and_entities(source: str, expected: Formatted) -> None:
    assert parse(source) == expected


def test_entities_beyond_a_hundred_are_dropped_silently() -> None:
    assert len(parse("<b>x</b> " * 101).entities) == 100


async def test_a_card_is_sent_edited_and_rings_once() -> None:
    async with room() as (telegram, bot, _):
        sent = await bot.send_message(
            ROOM, "🔴 <b>High</b>", parse_mode="HTML", reply_markup=keys([key()])
        )
        await bot.edit_message_text("🟢 done", ROOM, sent.message_id)
        await bot.send_message(
            ROOM,
            "evidence",
            disable_notification=True,
            reply_parameters=ReplyParameters(sent.message_id),
        )
        card, reply = telegram.messages(ROOM)
        assert sent.entities[0].type == "bold"
        assert (card.text, card.buttons, card.edits) == ("🟢 done", [], 1)
        assert reply.reply_to == card.id
        assert telegram.audible(ROOM) == [card]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "Bad Request: message text is empty"),
        ("<b> </b>\n", "Bad Request: message text is empty"),
        ("x" * 4097, "Bad Request: message is too long"),
        ("🔥" * 2049, "Bad Request: message is too long"),
    ],
)
def test_texts_telegram_does_not_take(text: str, reason: str) -> None:
    with pytest.raises(RefusedError) as caught:
        text_of({"text": text, "parse_mode": "HTML"})
    assert caught.value.description == reason


async def test_length_is_counted_without_tags() -> None:
    async with room() as (telegram, bot, _):
        await bot.send_message(ROOM, f"<b>{'x' * 4096}</b>", parse_mode="HTML")
        assert len(telegram.messages(ROOM)[0].text) == 4096


@pytest.mark.parametrize(
    ("markup", "reason"),
    [
        (keys([key(callback_data="x" * 65)]), "BUTTON_DATA_INVALID"),
        (keys([key(callback_data="é" * 33)]), "BUTTON_DATA_INVALID"),
        (keys([key(callback_data="")]), "BUTTON_DATA_INVALID"),
        (keys([key(url="http://grafana/d/1")]), "BUTTON_URL_INVALID"),
        (keys([key(url="http://localhost:3000")]), "BUTTON_URL_INVALID"),
        (keys([key()] * 9), "REPLY_MARKUP_TOO_LONG"),
        (keys(*[[key()] * 8] * 13), "REPLY_MARKUP_TOO_LONG"),
    ],
)
def test_keyboards_telegram_does_not_take(markup: InlineKeyboardMarkup, reason: str) -> None:
    with pytest.raises(RefusedError) as caught:
        markup_of({"reply_markup": markup.to_json()})
    assert caught.value.description == f"Bad Request: {reason}"


async def test_a_refused_keyboard_leaves_no_message() -> None:
    async with room() as (telegram, bot, _):
        with pytest.raises(BadRequest):
            await bot.send_message(ROOM, "x", reply_markup=keys([key(callback_data="x" * 65)]))
        assert descriptions(telegram) == ["Bad Request: BUTTON_DATA_INVALID"]
        assert telegram.messages(ROOM) == []


async def test_a_full_keyboard_fits() -> None:
    markup = keys([key(callback_data="x" * 64), key(url="https://10.0.0.7:3000/d")])
    async with room() as (telegram, bot, _):
        await bot.send_message(ROOM, "x", reply_markup=markup)
        assert len(telegram.messages(ROOM)[0].buttons) == 2


async def test_an_edit_that_changes_nothing_is_refused() -> None:
    async with room() as (_, bot, _wall):
        sent = await bot.send_message(ROOM, "x", reply_markup=keys([key()]))
        with pytest.raises(BadRequest, match="Message is not modified"):
            await bot.edit_message_text("x", ROOM, sent.message_id, reply_markup=keys([key()]))
        with pytest.raises(BadRequest, match="Message is not modified"):
            await bot.edit_message_reply_markup(ROOM, sent.message_id, reply_markup=keys([key()]))
        await bot.edit_message_reply_markup(ROOM, sent.message_id)


async def test_a_message_that_is_gone_cannot_be_edited() -> None:
    async with room() as (_, bot, wall):
        sent = await bot.send_message(ROOM, "x")
        await bot.delete_message(ROOM, sent.message_id)
        with pytest.raises(BadRequest, match="Message to edit not found"):
            await bot.edit_message_text("y", ROOM, sent.message_id)
        old = await bot.send_message(ROOM, "x")
        wall.at += timedelta(hours=49)
        with pytest.raises(BadRequest, match="Message can't be deleted"):
            await bot.delete_message(ROOM, old.message_id)


async def test_rooms_that_are_lost_say_how() -> None:
    async with room() as (telegram, bot, _):
        with pytest.raises(BadRequest, match="Chat not found"):
            await bot.send_message(-5, "x")
        telegram.space.chats[ROOM].standing = "kicked"
        with pytest.raises(Forbidden, match="bot was kicked from the supergroup chat"):
            await bot.send_message(ROOM, "x")
        telegram.chat(-7, "group").migrated_to = -1007
        with pytest.raises(ChatMigrated) as moved:
            await bot.send_message(-7, "x")
        assert moved.value.new_chat_id == -1007


async def test_topics_and_replies_must_exist() -> None:
    async with room() as (telegram, bot, _):
        telegram.space.chats[ROOM].topics = {5: True, 6: False}
        await bot.send_message(ROOM, "x", message_thread_id=5)
        assert telegram.messages(ROOM)[0].thread_id == 5
        with pytest.raises(BadRequest, match="Message thread not found"):
            await bot.send_message(ROOM, "x", message_thread_id=9)
        with pytest.raises(BadRequest, match=r"(?i)topic_closed"):
            await bot.send_message(ROOM, "x", message_thread_id=6)
        with pytest.raises(BadRequest, match="Message to be replied not found"):
            await bot.send_message(ROOM, "x", reply_parameters=ReplyParameters(99))
        lenient = ReplyParameters(99, allow_sending_without_reply=True)
        await bot.send_message(ROOM, "y", reply_parameters=lenient)
        assert telegram.messages(ROOM)[1].reply_to is None


async def test_a_chart_is_a_photo_that_never_becomes_text() -> None:
    async with room() as (telegram, bot, _):
        sent = await bot.send_photo(
            ROOM, b"\x89PNG\r\n\x1a\n", caption="<b>p99</b>", parse_mode="HTML"
        )
        await bot.send_document(ROOM, b"lines", filename="evidence.txt")
        assert [m.file for m in telegram.messages(ROOM)] == [b"\x89PNG\r\n\x1a\n", b"lines"]
        with pytest.raises(BadRequest, match="There is no text in the message to edit"):
            await bot.edit_message_text("y", ROOM, sent.message_id)
        with pytest.raises(BadRequest, match="Message caption is too long"):
            await bot.send_photo(ROOM, b"x", caption="x" * 1025)


async def test_a_wrong_token_is_refused() -> None:
    async with room() as (telegram, bot, _):
        telegram.token = "700000001:rotated"
        with pytest.raises(InvalidToken):
            await bot.send_message(ROOM, "x")
        assert descriptions(telegram) == ["Unauthorized"]


async def test_a_strict_group_takes_twenty_writes_a_minute_and_edits_count() -> None:
    async with room(strict_rate=True) as (_, bot, wall):
        sent = await bot.send_message(ROOM, "0")
        for turn in range(1, 20):
            await bot.edit_message_text(str(turn), ROOM, sent.message_id)
        wall.at += timedelta(seconds=20)
        with pytest.raises(RetryAfter) as caught:
            await bot.send_message(ROOM, "x")
        assert caught.value._retry_after == timedelta(seconds=40)
        wall.at += timedelta(seconds=40)
        await bot.send_message(ROOM, "x")


async def test_a_press_is_delivered_and_answered_in_time() -> None:
    async with room() as (telegram, bot, wall):
        sent = await bot.send_message(ROOM, "x", reply_markup=keys([key()]))
        await telegram.presses(ROOM, sent.message_id, "t1", 7)
        (update,) = await bot.get_updates(timeout=1)
        assert update.callback_query is not None
        assert (update.callback_query.data, update.callback_query.from_user.id) == ("t1", 7)
        await bot.answer_callback_query(update.callback_query.id, "taken")
        assert [said["text"] for said in telegram.space.answers] == ["taken"]
        late = await telegram.presses(ROOM, sent.message_id, "t1", 7)
        wall.at += timedelta(seconds=16)
        with pytest.raises(BadRequest, match="Query is too old"):
            await bot.answer_callback_query(late)


async def test_updates_are_waited_for_and_confirmed_by_the_next_offset() -> None:
    async with room() as (telegram, bot, _):
        waiting = asyncio.create_task(bot.get_updates(timeout=5))
        await asyncio.sleep(0.05)
        await telegram.says(ROOM, 7, "/engage checkout")
        (update,) = await waiting
        assert update.message is not None
        assert update.message.entities[0].type == "bot_command"
        assert len(await bot.get_updates()) == 1
        assert await bot.get_updates(offset=update.update_id + 1) == ()


async def test_two_pollers_are_a_conflict_and_so_is_a_webhook() -> None:
    async with room() as (telegram, bot, _):
        async with client_of(telegram, bot.base_url.partition("/bot")[0]) as twin:
            first = asyncio.create_task(twin.get_updates(timeout=5))
            await asyncio.sleep(0.05)
            await bot.get_updates()
            with pytest.raises(Conflict, match="terminated by other getUpdates"):
                await first
        await bot.set_webhook("https://caveat.example/telegram")
        with pytest.raises(Conflict, match="webhook is active"):
            await bot.get_updates()
        await bot.delete_webhook()
        assert await bot.get_updates() == ()
        assert telegram.updates.webhook == ""


async def test_a_webhook_is_told_with_its_secret_and_a_failure_stays_pending() -> None:
    heard: list[tuple[str, Any]] = []

    async def hear(request: Request) -> Response:
        secret = request.headers["x-telegram-bot-api-secret-token"]
        heard.append((secret, (await request.json())["message"]["text"]))
        return PlainTextResponse("", 200 if len(heard) == 1 else 500)

    ours = Starlette(routes=[Route("/hook", hear, methods=["POST"])])
    async with room(reads_all=True) as (telegram, bot, _), serve(ours) as url:
        await bot.set_webhook(f"{url}/hook", secret_token="s3cret", allowed_updates=["message"])
        await telegram.says(ROOM, 7, "one")
        await telegram.says(ROOM, 7, "two")
        assert await telegram.updates.push("chat_member", {}) is None
        found = await bot.get_webhook_info()
        assert heard == [("s3cret", "one"), ("s3cret", "two")]
        assert (found.pending_update_count, found.allowed_updates) == (1, ("message",))
        with pytest.raises(BadRequest, match="https url must be provided"):
            await bot.set_webhook("http://caveat.example/telegram")


async def test_members_chats_and_commands_are_known() -> None:
    async with room() as (telegram, bot, _):
        assert bot.username == "caveat_bot"
        assert (await bot.get_chat(ROOM)).title == "on-call"
        assert (await bot.get_chat_member(ROOM, 7)).status == "administrator"
        assert (await bot.get_chat_member(ROOM, bot.id)).status == "member"
        await bot.set_my_commands([("engage", "Investigate")])
        with pytest.raises(BadRequest, match=r"(?i)bot_command_invalid"):
            await bot.set_my_commands([("En-gage", "x")])
        assert telegram.space.commands["default"][0]["command"] == "engage"


@pytest.mark.parametrize(
    ("fault", "raised"),
    [
        (rate_limited(9), RetryAfter),
        (refused(403, "Forbidden: bot was kicked from the supergroup chat"), Forbidden),
        (answer(500, {"ok": False, "error_code": 500, "description": "Internal"}), NetworkError),
        (bad_gateway(), NetworkError),
        (ReplyLost(accepted=False), NetworkError),
    ],
)
async def test_a_planted_fault_comes_once(fault: Any, raised: type[Exception]) -> None:
    async with room() as (telegram, bot, _):
        telegram.fail_next("sendMessage", fault)
        with pytest.raises(raised):
            await bot.send_message(ROOM, "x")
        assert telegram.messages(ROOM) == []
        await bot.send_message(ROOM, "x")
        assert [m.text for m in telegram.messages(ROOM)] == ["x"]


async def test_a_lost_reply_leaves_the_message_and_silence_times_out() -> None:
    wall = Wall()
    telegram = TelegramDouble(wall)
    telegram.chat(ROOM)
    async with serve(telegram.app) as url, client_of(telegram, url, read_timeout_s=0.2) as bot:
        telegram.fail_next("sendMessage", ReplyLost())
        with pytest.raises(NetworkError):
            await bot.send_message(ROOM, "x")
        assert len(telegram.messages(ROOM)) == 1
        telegram.fail_next("sendMessage", Slow(0.05))
        await bot.send_message(ROOM, "y")
        telegram.fail_next("sendMessage", Hang())
        with pytest.raises(TimedOut):
            await bot.send_message(ROOM, "z")
        assert [m.text for m in telegram.messages(ROOM)] == ["x", "y"]
