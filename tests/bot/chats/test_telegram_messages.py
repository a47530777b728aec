"""What is written to the bot in Telegram, and what happens to its rooms."""

import asyncio
import json
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from pydantic import ValidationError
from telegram import Message as Written

from bot.chats.telegram.messages import Command, command_of, question_of, said_to
from bot.chats.telegram.webhook import address
from bot.config import Settings
from bot.drill.doubles.serve import serve
from bot.drill.doubles.telegram import rate_limited
from bot.drill.doubles.telegram_people import marked
from bot.drill.doubles.telegram_room import entity_wire
from bot.http.telegram import HEADER, mount
from cards.asking import answered
from engine.model.desk import FieldName
from storage.store import SqlStore
from tests.bot.chats.telegram_room import ADA, BOB, ROOM, at_work, floor, listener
from tests.bot.sending import until

SECRET = "0123456789abcdef"


def written(text: str, chat: str = "supergroup", **more: Any) -> Written:
    said = marked(text)
    marks = [entity_wire(entity) for entity in said.entities]
    where = {"id": -1, "type": chat, "title": "x"}
    raw = {"message_id": 5, "date": 1, "chat": where, "text": text, "entities": marks, **more}
    message = Written.de_json(raw, None)
    assert message is not None
    return message


@pytest.mark.parametrize(
    ("text", "chat", "expected"),
    [
        ("/engage why is checkout slow", "supergroup", ("engage", "why is checkout slow")),
        ("/ask@caveat_bot  12", "supergroup", ("engage", "12")),
        ("/Status@Caveat_Bot", "supergroup", ("status", "")),
        ("/start ABCD-1234", "private", ("link", "ABCD-1234")),
        ("/start ABCD-1234", "supergroup", ("bind", "ABCD-1234")),
        ("/start", "private", ("help", "")),
        ("/engage@other_bot x", "supergroup", None),
        ("/unknown", "supergroup", None),
        ("/unknown", "private", ("help", "")),
        ("what about /engage x", "supergroup", None),
        ("hello", "supergroup", None),
    ],
)
def test_a_command_is_read_as_it_was_meant(
    text: str, chat: str, expected: tuple[str, str] | None
) -> None:
    found = command_of(written(text, chat), "caveat_bot")
    assert found == (Command(*expected) if expected else None)


OURS = {"message_id": 4, "date": 1, "chat": {"id": -1, "type": "supergroup", "title": "x"}}
BOT = {"id": 1, "is_bot": True, "first_name": "Caveat"}
OPENED = {"forum_topic_created": {"name": "alerts", "icon_color": 1}}


@pytest.mark.parametrize(
    ("text", "reply", "expected"),
    [
        ("🔥 @caveat_bot is db-1 full?", None, "🔥 is db-1 full?"),
        ("is db-1 full @CAVEAT_BOT", None, "is db-1 full"),
        ("and now?", OURS | {"from": BOT}, "and now?"),
        ("and now?", OURS | {"from": BOT | {"id": 2}}, None),
        ("lunch?", OURS | {"from": BOT} | OPENED, None),
        ("ask @other_bot", None, None),
    ],
)
def test_what_names_us_or_replies_to_us_is_said_to_us(
    text: str, reply: dict[str, Any] | None, expected: str | None
) -> None:
    more = {"reply_to_message": reply} if reply else {}
    message = written(text, **more)
    assert said_to(message, "caveat_bot", 1) == expected
    assert (question_of(message, 1) is not None) is (bool(reply) and expected is not None)


DRAFT = {FieldName.SYMPTOM: "slow", FieldName.ROOT_CAUSE: "the pool"}


@pytest.mark.parametrize(
    ("said", "draft", "expected"),
    [
        ("restarted it", {}, {FieldName.FIX: "restarted it"}),
        ("runbook: it is none", {}, {FieldName.FIX: "runbook: it is none"}),
        ("restarted\nit", DRAFT, DRAFT | {FieldName.FIX: "restarted it"}),
        (
            "WAS : the disk\nfix: grew it\nrunbook: r-7",
            DRAFT,
            DRAFT
            | {FieldName.ROOT_CAUSE: "the disk", FieldName.FIX: "grew it"}
            | {FieldName.RUNBOOK: "r-7"},
        ),
        ("was:\ngrew it", DRAFT, DRAFT | {FieldName.ROOT_CAUSE: "grew it"}),
    ],
)
def test_an_answer_fills_what_is_asked_and_its_lines_correct_the_draft(
    said: str, draft: dict[FieldName, str], expected: dict[FieldName, str]
) -> None:
    assert answered(said, FieldName.FIX, draft) == expected


async def test_commands_are_answered_once_in_place_and_silently(store: SqlStore) -> None:
    async with floor(store) as f:
        f.telegram.space.chats[ROOM].topics = {5: True}
        said = await f.tells(ADA, "/status", topic=5)
        assert (said.silent, said.thread_id) == (True, 5)
        assert said.text.startswith("Status")
        asked = max(f.telegram.space.chats[ROOM].messages.values(), key=lambda m: m.id - 1)
        chain = await f.tells(ADA, "/help", reply_to=said.id)
        assert (chain.thread_id, chain.reply_to) == (None, asked.id + 1)
        before = len(f.telegram.messages(ROOM))
        everything = f.telegram.space.chats[ROOM].messages
        again = next(m for m in everything.values() if m.text == "/status")
        await f.telegram.updates.push("message", f.telegram.space.wire(again))
        await f.telegram.edits(ROOM, again.id, "/help")
        await f.telegram.says(ROOM, ADA, "is checkout down?")
        await f.telegram.says(ROOM, ADA, "/help@other_bot")
        await f.heard_nothing()
        assert len(f.telegram.messages(ROOM)) == before


async def test_a_room_is_tied_by_an_administrator_who_shows_an_account(store: SqlStore) -> None:
    async with floor(store) as f:
        f.telegram.chat(-1005).members |= {ADA: "member", BOB: "administrator"}
        async with store.begin() as tx:
            await tx.rooms.keep_room_code("AAAA-BBBB", client_id="default", team_id=None)
        hidden = await f.tells(BOB, "/bind AAAA-BBBB", -1005, anonymous=True)
        assert "as yourself" in hidden.text
        assert "Only an administrator" in (await f.tells(ADA, "/bind AAAA-BBBB", -1005)).text
        assert "tied to default" in (await f.tells(BOB, "/bind AAAA-BBBB", -1005)).text
        menus = f.telegram.space.commands
        await until(lambda: "chat:-1005" in menus)
        assert [c["command"] for c in menus[f"chat:{ROOM}"]] == ["engage", "ask", "status", "help"]
        assert [c["command"] for c in menus["all_private_chats"]] == ["start", "link", "help"]
        assert menus["default"] == []


async def test_a_deep_link_ties_an_account(store: SqlStore) -> None:
    async with floor(store) as f:
        async with store.begin() as tx:
            person = await tx.people.add("Bob B", by="test")
            await tx.people.keep_code(person, "WXYZ-2345", by="test")
        said = await f.tells(BOB, "/start WXYZ-2345", BOB)
        assert "Bob B" in said.text
        assert "help" not in said.text
        assert "Caveat" in (await f.tells(BOB, "good morning", BOB)).text


async def test_a_group_that_grows_takes_its_cards_and_its_rooms_along(store: SqlStore) -> None:
    async with floor(store) as f:
        await f.shown()
        grown = await f.telegram.grows(ROOM, -1009)
        await until(lambda: bool(f.telegram.messages(-1009)))
        await f.stage.settled()
        (card,) = f.telegram.messages(-1009)
        assert card.silent
        assert await f.press(ADA, "Take", card) == "It is yours; the card says so."
        await f.stage.settled()
        assert "Ada" in card.text
        assert grown.id == -1009
        assert [r.chat_id for r in await f.stage.rows("select chat_id from rooms")] == ["-1009"]


async def test_a_room_the_bot_is_thrown_out_of_is_broken_until_it_is_back(store: SqlStore) -> None:
    async with floor(store) as f:
        why: list[str | None] = []
        for status in ("restricted", "member", "kicked", "member"):
            await f.telegram.stands(ROOM, status, ADA)
            await until(lambda: not f.telegram.updates.waiting)
            async with asyncio.timeout(5):
                while (now := await broken(store)) == (why[-1] if why else None):
                    await asyncio.sleep(0.02)
            why.append(now)
        assert why == [
            "the bot may not send messages there",
            None,
            "the bot was removed from the chat",
            None,
        ]


async def broken(store: SqlStore) -> str | None:
    async with store.begin() as tx:
        return next(why for room, _, why in await tx.rooms.every() if room.chat == str(ROOM))


async def test_one_replica_polls_and_the_other_takes_over(store: SqlStore) -> None:
    async with floor(store, listening=False) as f:
        first, second = at_work(listener(f.stage)), at_work(listener(f.stage))
        await first.__aenter__()
        assert "Status" in (await f.tells(ADA, "/status")).text
        async with second:
            assert "Status" in (await f.tells(ADA, "/status")).text
            refused = [c for c in f.telegram.calls if c.method == "getUpdates" and c.error]
            assert refused == []
            await first.__aexit__(None, None, None)
            assert "Status" in (await f.tells(ADA, "/status")).text


async def test_a_webhook_somebody_set_and_a_server_that_is_away_are_waited_out(
    store: SqlStore, caplog: pytest.LogCaptureFixture
) -> None:
    async with floor(store, listening=False) as f:
        f.telegram.updates.webhook = "https://elsewhere.example/hook"
        f.telegram.fail_next("getUpdates", rate_limited(1))
        async with at_work(f.inbox):
            await until(lambda: f.telegram.updates.webhook == "")
            assert f.telegram.token not in caplog.text
            assert any("not heard" in line for line in caplog.messages)


async def test_updates_that_are_posted_need_the_secret(store: SqlStore) -> None:
    async with floor(store, listening=False) as f:
        app = FastAPI()
        async with serve(app) as url:
            inbox = listener(f.stage, webhook_secret=SECRET, public_url=url)
            mount(app, SECRET, inbox.take)
            async with httpx.AsyncClient(trust_env=False) as http:
                early = await http.post(f"{url}/telegram", json={}, headers={HEADER: SECRET})
                async with at_work(inbox):
                    await until(lambda: bool(f.telegram.updates.webhook))
                    for secret in ("", "wrong", SECRET + "x"):
                        headers = {HEADER: secret}
                        no = await http.post(f"{url}/telegram", json={}, headers=headers)
                        assert no.status_code == 401
                    unread = await http.post(
                        f"{url}/telegram", json={"nothing": 1}, headers={HEADER: SECRET}
                    )
                    assert "Status" in (await f.tells(ADA, "/status")).text
        assert (early.status_code, unread.status_code) == (503, 200)
        assert f.telegram.updates.secret == SECRET
        assert set(f.telegram.updates.allowed) == {"message", "callback_query", "my_chat_member"}
        assert not f.telegram.accepted("getUpdates")


async def test_the_webhook_is_set_once(store: SqlStore) -> None:
    async with floor(store, listening=False) as f:
        given = {"webhook_secret": SECRET, "public_url": "https://caveat.example/"}
        async with at_work(listener(f.stage, **given)):
            await until(lambda: bool(f.telegram.updates.webhook))
        async with at_work(listener(f.stage, **given)):
            await until(lambda: len(f.telegram.accepted("getWebhookInfo")) == 2)
        assert len(f.telegram.accepted("setWebhook")) == 1


def test_a_webhook_needs_an_address_and_a_secret_telegram_takes() -> None:
    with pytest.raises(ValidationError, match=r"needs http\.public_url"):
        Settings.model_validate({"telegram": {"webhook_secret": SECRET}})
    with pytest.raises(ValidationError, match="16 to 256"):
        Settings.model_validate({"telegram": {"webhook_secret": "short"}})
    kept = Settings.model_validate({"telegram": {"webhook_secret": SECRET}, "http": PUBLIC})
    other = Settings.model_validate({"telegram": {"webhook_secret": SECRET[::-1]}, "http": PUBLIC})
    assert kept.telegram.webhook_secret is not None
    assert other.telegram.webhook_secret is not None
    url = PUBLIC["public_url"]
    assert address(url, kept.telegram.webhook_secret) != address(url, other.telegram.webhook_secret)
    assert SECRET not in json.dumps(address(url, kept.telegram.webhook_secret))


PUBLIC = {"public_url": "https://caveat.example"}
