"""Presses in Telegram, through its own client library, down to the database and the card."""

import asyncio
from typing import Any

import pytest

from bot.drill.doubles.faults import bad_gateway
from bot.drill.doubles.telegram import refused
from engine.model.finding import Ruling
from engine.model.org import Role
from storage.store import SqlStore
from tests.bot.chats.telegram_room import ADA, BOB, EVE, ROOM, at_work, floor, listener
from tests.bot.sending import until
from tests.cards.cases import ruled

DOUBTED: Any = {"claims": (ruled("the payments database was full", Ruling.CONTRADICTED, "M1"),)}
RESOLVED = "update incidents set state = 'resolved', resolved_at = clock_timestamp()"


async def test_a_press_comes_to_the_desk_and_the_card_says_who_did_it(store: SqlStore) -> None:
    async with floor(store) as f:
        await f.shown()
        assert await f.press(ADA, "Take") == "It is yours; the card says so."
        await f.stage.settled()
        assert "Ada" in f.card.text
        assert f.telegram.audible(ROOM) == [f.card]
        assert [r.taken_account for r in await f.stage.rows("select * from incidents")] == [
            f"telegram:{ADA}"
        ]


async def test_of_two_at_once_one_wins_and_the_other_hears_who(store: SqlStore) -> None:
    async with floor(store) as f:
        await f.shown()
        presses = [await f.begin(who, "Take") for who in (ADA, BOB)]
        said = {await f.answer(press): press for press in presses}
        lost, won = sorted(said)
        assert won == "It is yours; the card says so."
        first = "Ada" if said[won] == presses[0] else "Bob"
        assert lost.startswith(f"Already taken by {first} at ")
        alerts = [f.answered[said[words]].get("show_alert") for words in (won, lost)]
        assert alerts == ["false", "true"]


async def test_a_press_delivered_twice_counts_once(store: SqlStore) -> None:
    async with floor(store) as f:
        await f.shown()
        await f.press(ADA, "Mute")
        before = await f.stage.rows("select count(*) from audit")
        press = next(c for c in f.telegram.calls if c.method == "answerCallbackQuery")
        again = {
            "id": press.given["callback_query_id"],
            "from": f.telegram.space.users[ADA],
            "message": f.telegram.space.wire(f.card),
            "chat_instance": "x",
            "data": next(k["callback_data"] for k in f.card.buttons if k["text"] == "Mute 1 h"),
        }
        await f.telegram.updates.push("callback_query", again)
        await until(lambda: len([c for c in f.telegram.calls if "answer" in c.method]) == 2)
        assert await f.stage.rows("select count(*) from audit") == before


async def test_a_card_can_be_pressed_after_a_restart_and_when_its_words_are_gone(
    store: SqlStore,
) -> None:
    async with floor(store, listening=False) as f:
        await f.shown()
        async with at_work(f.inbox):
            await f.press(ADA, "Mute")
        take = next(k["callback_data"] for k in f.card.buttons if k["text"] == "Take")
        query = await f.telegram.presses(ROOM, f.card.id, take, ADA, forgotten=True)
        async with at_work(listener(f.stage)):
            assert await f.answer(query) == "It is yours; the card says so."


@pytest.mark.parametrize("data", ["take", "p:nobody:1", "x" * 64, "a\x00b" + "c" * 19, "é" * 22])
async def test_a_key_of_another_version_is_told_from_a_fault(store: SqlStore, data: str) -> None:
    async with floor(store) as f:
        await f.shown()
        query = await f.telegram.presses(ROOM, f.card.id, data, ADA)
        assert await f.answer(query) == "This card is from an older version; use the newest one."
        assert f.answered[query]["show_alert"] == "true"


@pytest.mark.parametrize(
    ("status", "said"),
    [
        ("restricted", "Only full members"),
        ("left", "Only full members"),
        ("kicked", "Only full members"),
    ],
)
async def test_whoever_is_no_full_member_at_that_moment_may_not_act(
    store: SqlStore, status: str, said: str
) -> None:
    async with floor(store) as f:
        await f.shown()
        f.telegram.space.chats[ROOM].members[ADA] = status
        assert (await f.press(ADA, "Take")).startswith(said)
        assert "Ada" not in f.card.text


async def test_where_the_chat_does_not_say_who_is_in_it_nobody_is(store: SqlStore) -> None:
    async with floor(store) as f:
        await f.shown()
        f.telegram.fail_next("getChatMember", bad_gateway())
        assert (await f.press(ADA, "Take")).startswith("Only full members")
        assert await f.press(ADA, "Take") == "It is yours; the card says so."


async def test_a_guest_reads_and_a_deactivated_person_does_not(store: SqlStore) -> None:
    async with floor(store) as f:
        await f.shown(**DOUBTED)
        assert await f.press(EVE, "Why?") == ""
        shown = f.newest
        assert shown.reply_to == f.card.id
        assert shown.text.startswith("Checks made to disprove it")
        person = await f.person(EVE, "Eve")
        async with store.begin() as tx:
            await tx.people.deactivate(person, by="test")
        assert (await f.press(EVE, "Why?")).startswith("Your account is deactivated")
        assert shown.silent


async def test_a_choice_is_one_key_and_the_question_goes_when_it_is_answered(
    store: SqlStore,
) -> None:
    async with floor(store) as f:
        await f.shown(**DOUBTED)
        assert await f.press(ADA, "Wrong cause") == ""
        question = f.newest
        assert question.silent
        assert question.reply_to == f.card.id
        assert question.text.startswith("Ada · Wrong cause\nWhat was it really?\n1 · the payments")
        assert [key["text"] for key in question.buttons] == [
            "1 · the payments database was full",
            "Something else…",
        ]
        assert all(len(key["callback_data"].encode()) <= 64 for key in question.buttons)
        theirs = await f.press(BOB, "1", question)
        assert theirs == "This question is closed; press the button again."
        assert await f.press(ADA, "1", question) == "Noted: wrong cause."
        await until(lambda: question.id not in f.telegram.space.chats[ROOM].messages)
        (said,) = await f.stage.rows("select cause, by from verdicts")
        assert said.cause == "the payments database was full"


async def test_what_none_of_the_choices_was_is_written_as_a_reply(store: SqlStore) -> None:
    async with floor(store) as f:
        await f.shown(**DOUBTED)
        await f.press(ADA, "Wrong cause")
        await f.press(ADA, "Something else", f.newest)
        question = f.newest
        assert question.markup == {"force_reply": True, "selective": True}
        assert question.reply_to == f.card.id
        marks = [entity.argument for entity in question.body.entities]
        assert f"tg://user?id={ADA}" in marks
        told = await f.tells(ADA, "the <b>batch</b> job\nof */5 @channel", reply_to=question.id)
        assert (told.text, told.silent) == ("Noted: wrong cause.", True)
        (said,) = await f.stage.rows("select cause from verdicts")
        assert said.cause == "the <b>batch</b> job of */5 @channel"
        again = await f.tells(ADA, "or not", reply_to=question.id)
        assert again.text == "This question is closed; press the button again."


async def test_memory_takes_one_answer_and_a_line_can_correct_the_draft(store: SqlStore) -> None:
    async with floor(store) as f:
        await f.person(ADA, "Ada L", Role.RESOLUTIONS_APPROVE)
        incident = await f.shown(**DOUBTED)
        await f.stage.change(RESOLVED)
        await f.stage.wish(incident, "resolved")
        await f.stage.settled()
        denied = await f.press(BOB, "Save to memory")
        assert denied == "You may not approve what is kept here; ask Ada L."
        assert await f.press(ADA, "Save to memory") == ""
        question = f.newest
        assert "What fixed it" in question.text
        assert "What it was: " in question.text
        told = await f.tells(
            ADA, "rolled back to v2.40.3\nWas: the pool, not the disk", reply_to=question.id
        )
        assert told.text == "Kept; the next card of this kind starts from it."
        (kept,) = await f.stage.rows("select body from resolution_stubs")
        assert kept.body["symptom"].startswith("CheckoutHighErrorRate")
        assert kept.body["root_cause"] == "the pool, not the disk"
        assert (kept.body["fix"], kept.body["confirmed_by"]) == ("rolled back to v2.40.3", "Ada L")


async def test_a_question_that_cannot_be_put_is_told(store: SqlStore) -> None:
    async with floor(store) as f:
        await f.shown(**DOUBTED)
        f.telegram.fail_next("sendMessage", refused(403, "Forbidden: bot can't write"))
        said = await f.press(ADA, "Wrong cause")
        assert said == "The chat takes no message from here just now; try again in a minute."


async def test_a_slow_press_is_answered_first_and_told_below_the_card(
    store: SqlStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.chats.telegram.presses.PATIENCE_S", 0.2)
    async with floor(store) as f:
        await f.shown()
        async with store.begin() as tx:
            await tx.incidents.alone("i1")
            assert (await f.press(ADA, "Take")).startswith("Working on it")
        await until(lambda: f.newest.text == "It is yours; the card says so.")
        assert f.newest.silent


async def test_a_press_that_fails_here_is_answered_and_nothing_is_said_of_it(
    store: SqlStore, caplog: pytest.LogCaptureFixture
) -> None:
    async with floor(store) as f:
        await f.shown()
        await f.stage.change("alter table buttons rename to gone")
        try:
            said = await f.press(ADA, "Take")
        finally:
            await f.stage.change("alter table gone rename to buttons")
        assert said == "That failed here; nothing is known to be changed. The log says more."
        assert any("ProgrammingError" in line for line in caplog.messages)
        assert f.telegram.token not in caplog.text


async def test_many_presses_of_two_people_end_in_one_name(store: SqlStore) -> None:
    async with floor(store) as f:
        await f.shown()
        presses = [await f.begin((ADA, BOB)[n % 2], "Take") for n in range(12)]
        said = await asyncio.gather(*(f.answer(press) for press in presses))
        assert sum(line.startswith("It is yours") for line in said) == 1
