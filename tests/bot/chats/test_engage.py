"""Questions at the gates of a room, and what becomes of those that pass."""

from typing import Any

import pytest
from sqlalchemy import text

from bot.chats.arrival import Asked
from bot.chats.commands.commands import Commands
from bot.chats.commands.engage import MOST_ASKED
from bot.chats.inbox import Inbox
from engine.desk.desk import Desk
from engine.model.action import Action
from engine.model.desk import Membership
from engine.model.inquiry import Inquiry, InquiryState
from engine.model.org import Identity, Platform
from storage.store import SqlStore
from tests.bot.chats.test_commands import (
    ROOM,
    arrival,
    bound,
    counted,
    prepared,
    said,
    shown,
)

SLACK = {"identity": Identity(platform=Platform.SLACK, account="U1")}


async def inquiries(store: SqlStore) -> list[Inquiry]:
    async with store.begin() as tx:
        rows = await tx.session.execute(text("select body from inquiries order by asked_at"))
        return [Inquiry.model_validate(body) for body in rows.scalars()]


async def jobs(store: SqlStore) -> list[str]:
    async with store.begin() as tx:
        return list((await tx.session.execute(text("select key from jobs"))).scalars())


async def ask(commands: Commands, words: str, **changes: Any) -> Any:
    counted.clear()
    return await commands.say(arrival(**changes), "engage", words)


async def all_off(store: SqlStore) -> None:
    async with store.begin() as tx:
        await tx.session.execute(text("update clients set ai_triage = false"))


@pytest.mark.proves("S3-13", "S3-16", "S3-17")
async def test_a_room_whose_clients_are_all_off_is_silent_in_telegram(store: SqlStore) -> None:
    commands = await bound(store, team="web")
    await all_off(store)
    assert await ask(commands, "why is checkout-api slow") is None
    assert counted == ["empty_room"]
    assert await inquiries(store) == []
    assert await jobs(store) == []


async def test_in_slack_the_silence_is_a_word_to_the_asker_alone(store: SqlStore) -> None:
    commands = await prepared(store)
    assert "Nothing may be asked" in said(await ask(commands, "why", **SLACK))
    assert counted == ["not_bound"]
    assert await ask(commands, "why") is None


@pytest.mark.proves("S3-18")
@pytest.mark.parametrize("membership", [Membership.GUEST, Membership.BOT, Membership.OUTSIDE])
async def test_investigation_being_on_stands_for_no_other_gate(
    store: SqlStore, membership: Membership
) -> None:
    commands = await bound(store, client="acme")
    refused = await ask(commands, "why is cart slow", membership=membership)
    assert said(refused) == "Only full members of this room may ask."
    assert counted == ["unknown_person"]
    assert await inquiries(store) == []


async def test_no_words_are_answered_with_what_may_be_asked(store: SqlStore) -> None:
    commands = await bound(store, client="acme")
    assert "ask about acme" in shown(await ask(commands, "  "))


async def test_a_question_knows_what_it_is_about_and_is_looked_into_once(
    store: SqlStore,
) -> None:
    commands = await bound(store, client="acme")
    told = arrival(message_ref="77")
    for _ in range(2):
        assert await commands.say(told, "engage", "why is cart slow since 15 min") is None
    [inquiry] = await inquiries(store)
    assert (inquiry.state, dict(inquiry.scope)) == (
        InquiryState.WAITING,
        {"namespace": "shop", "service": "cart"},
    )
    assert await jobs(store) == [f"inquiry:{inquiry.id}"]
    async with store.begin() as tx:
        [card] = (await tx.session.execute(text("select * from cards"))).all()
    assert (card.subject_kind, card.subject_id, card.reply_ref) == ("inquiry", inquiry.id, "77")


async def test_an_ambiguous_name_asks_which_and_the_first_press_decides(
    store: SqlStore,
) -> None:
    commands = await bound(store, client="acme")
    await ask(commands, "why is checkout slow")
    [inquiry] = await inquiries(store)
    assert (inquiry.state, len(inquiry.choices)) == (InquiryState.CHOOSING, 2)
    assert await jobs(store) == []
    async with store.begin() as tx:
        [card_id] = (await tx.session.execute(text("select id from cards"))).scalars()
        pairs = [(Action.CHOOSE_SCOPE.value, "0"), (Action.CHOOSE_SCOPE.value, "1")]
        tokens = await tx.buttons.tokens("acme", card_id, pairs)
    inbox = Inbox(store, Desk(store, lambda: "0" * 32))
    guest = arrival(membership=Membership.GUEST)
    assert "Only full members" in said(await inbox.press(guest, tokens[pairs[1]]))
    assert said(await inbox.press(arrival(), tokens[pairs[1]])) == "Looking into that one."
    assert said(await inbox.press(arrival(), tokens[pairs[0]])) == "Already chosen."
    [settled] = await inquiries(store)
    assert settled.scope == inquiry.choices[1]
    assert await jobs(store) == [f"inquiry:{inquiry.id}"]


async def test_a_button_works_in_its_own_room_alone(store: SqlStore) -> None:
    commands = await bound(store, client="acme")
    await ask(commands, "why is checkout slow")
    async with store.begin() as tx:
        [card_id] = (await tx.session.execute(text("select id from cards"))).scalars()
        tokens = await tx.buttons.tokens("acme", card_id, [(Action.CHOOSE_SCOPE.value, "0")])
    inbox = Inbox(store, Desk(store, lambda: "0" * 32))
    [token] = tokens.values()
    elsewhere = await inbox.press(arrival(chat="-100999"), token)
    assert not isinstance(elsewhere, Asked)
    assert "older version" in said(elsewhere)
    assert "older version" in said(await inbox.press(arrival(), "forged"))
    assert [i.state for i in await inquiries(store)] == [InquiryState.CHOOSING]


async def test_a_question_without_a_known_name_is_settled_without_a_model(
    store: SqlStore,
) -> None:
    commands = await bound(store, client="acme")
    await ask(commands, "is anything wrong")
    [inquiry] = await inquiries(store)
    assert inquiry.state is InquiryState.UNPLACED
    assert await jobs(store) == []


async def test_an_account_asks_so_often_and_no_more(store: SqlStore) -> None:
    commands = await bound(store, client="acme")
    for _ in range(MOST_ASKED):
        assert await ask(commands, "why is cart slow") is None
    assert "more than 6 questions" in said(await ask(commands, "why is cart slow"))
    assert counted == ["rate_limited"]
    other = Identity(platform=Platform.TELEGRAM, account="43")
    assert await ask(commands, "why is cart slow", identity=other) is None


async def test_an_incident_of_another_client_cannot_be_asked_about(store: SqlStore) -> None:
    commands = await bound(store, client="acme")
    assert "No incident 12 is known in this room." in said(await ask(commands, "12"))
    assert counted == ["out_of_scope"]


async def test_a_spent_budget_is_said_before_anything_is_kept(store: SqlStore) -> None:
    commands = await bound(store, client="acme")
    async with store.begin() as tx:
        await tx.session.execute(
            text(
                "insert into llm_calls (id, client_id, triage_id, kind, model, state, request,"
                " cost_usd) values ('c', 'acme', 't', 'loop', 'm', 'ok', '{}', 9)"
            )
        )
    assert "used up" in said(await ask(commands, "why is cart slow"))
    assert counted == ["budget"]
    assert await inquiries(store) == []


async def test_a_team_room_says_whose_it_is(store: SqlStore) -> None:
    commands = await bound(store, team="web")
    await ask(commands, "why is cart slow in globex")
    [inquiry] = await inquiries(store)
    assert (inquiry.client_id, inquiry.state) == ("globex", InquiryState.WAITING)
    async with store.begin() as tx:
        answered = await tx.inquiries.answered(inquiry.id)
        found = await tx.rooms.bound(Platform.TELEGRAM, ROOM, None)
    assert found is not None
    assert answered is not None
    assert answered.names_client
