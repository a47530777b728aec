"""What is said to the bot, and what it answers, on a real database."""

from typing import Any

import pytest
from sqlalchemy import text

from bot.chats.arrival import Arrival, Reply, Shown, Told
from bot.chats.commands.command import Connected, Install
from bot.chats.commands.commands import Commands
from bot.cli.errors import CommandError
from bot.cli.rooms import keep, line
from cards.card import Line
from cards.render import plain as unmarked
from engine.model.desk import Membership
from engine.model.org import Identity, Platform, Role, Room
from storage.store import SqlStore

CODE = "ABCDEF-234567"
ROOM = "-100123"
NAMES = (
    {"namespace": "shop", "service": "checkout-api"},
    {"namespace": "shop", "service": "checkout-db"},
    {"namespace": "shop", "service": "cart"},
)
counted: list[str] = []
"""How questions ended at the gates."""
_keys = iter(range(10_000))


def arrival(**changes: Any) -> Arrival:
    usual: dict[str, Any] = {
        "key": f"update:{next(_keys)}",
        "identity": Identity(platform=Platform.TELEGRAM, account="42"),
        "name": "Ada",
        "membership": Membership.FULL,
        "chat": ROOM,
        "administers": True,
    }
    return Arrival(**{**usual, **changes})


async def prepared(store: SqlStore) -> Commands:
    async with store.begin() as tx:
        for client in ("acme", "globex"):
            await tx.org.declare_client(client, {"ai_triage": True})
        await tx.org.declare_team("web", ["acme", "globex"])
    connected = Connected(present=("prometheus",), absent=("loki",))
    return Commands(
        store,
        Install(
            connected={"acme": connected}, model=True, names=lambda _: NAMES, count=counted.append
        ),
    )


async def bound(store: SqlStore, **of: str) -> Commands:
    commands = await prepared(store)
    async with store.begin() as tx:
        await keep(tx, CODE, of.get("client"), of.get("team"), by="cli:ops")
    assert "tied to" in said(await commands.say(arrival(), "bind", CODE))
    return commands


def said(reply: Reply | None) -> str:
    assert isinstance(reply, Told)
    return flat(reply.line)


def flat(line_: Line) -> str:
    return unmarked.line(line_)


def shown(reply: Reply | None) -> str:
    assert isinstance(reply, Shown)
    return unmarked.text(reply.card)


async def admin(store: SqlStore, client: str = "*") -> None:
    async with store.begin() as tx:
        ada = await tx.people.add("ada", by="cli")
        await tx.people.grant(ada, client, Role.ADMIN, by="cli")
        await tx.people.keep_code(ada, "LINKED-234567", by="cli")
        await tx.people.redeem("LINKED-234567", arrival().identity)


async def test_a_room_is_tied_by_a_code_once_and_keeps_its_tie(store: SqlStore) -> None:
    commands = await bound(store, client="acme")
    assert "unknown, used or out of time" in said(await commands.say(arrival(), "bind", CODE))
    async with store.begin() as tx:
        # A configuration that names no room must not take away what was tied by hand.
        await tx.org.declare_rooms("acme", [])
        found = await tx.rooms.bound(Platform.TELEGRAM, ROOM, None)
        [room] = await tx.org.rooms("acme")
    assert found is not None
    assert ([c.id for c in found.clients], room.chat) == (["acme"], ROOM)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"private": True}, "in the room"),
        ({"anonymous": True}, "as yourself"),
        ({"administers": False}, "Only an administrator"),
        ({"membership": Membership.GUEST}, "Only an administrator"),
    ],
)
async def test_not_everybody_ties_a_room(
    store: SqlStore, changes: dict[str, Any], words: str
) -> None:
    commands = await prepared(store)
    async with store.begin() as tx:
        await keep(tx, CODE, "acme", None, by="cli:ops")
    assert words in said(await commands.say(arrival(**changes), "bind", CODE))
    async with store.begin() as tx:
        assert await tx.rooms.bound(Platform.TELEGRAM, ROOM, None) is None


async def test_a_code_is_made_for_what_there_is(store: SqlStore) -> None:
    await prepared(store)
    async with store.begin() as tx:
        with pytest.raises(CommandError, match="no client named 'acmee'"):
            await keep(tx, CODE, "acmee", None, by="cli:ops")
        with pytest.raises(CommandError, match="no team named 'wob'"):
            await keep(tx, CODE, None, "wob", by="cli:ops")


async def test_a_topic_speaks_for_what_it_is_tied_to_before_its_chat(store: SqlStore) -> None:
    await prepared(store)
    async with store.begin() as tx:
        for code, topic, client in ((CODE, None, "acme"), ("SECOND-234567", 7, "globex")):
            await keep(tx, code, client, None, by="cli:ops")
            await tx.rooms.bind(code, Platform.TELEGRAM, ROOM, topic, by="ada")
        found = [await tx.rooms.bound(Platform.TELEGRAM, ROOM, t) for t in (None, 7, 9)]
    assert [b.named for b in found if b is not None] == ["acme", "globex", "acme"]


async def test_an_unbound_room_is_tied_to_nothing(store: SqlStore) -> None:
    await bound(store, client="acme")
    async with store.begin() as tx:
        [(room, owner, broken)] = await tx.rooms.every()
        assert line(room, owner, broken) == f"{room.id}  telegram {ROOM}  acme"
        assert await tx.rooms.unbind(room.id)
        assert not await tx.rooms.unbind(room.id)
        assert await tx.rooms.bound(Platform.TELEGRAM, ROOM, None) is None
        declared = Room(id="acme:slack:#a:0", platform=Platform.SLACK, chat="#a")
        await tx.org.declare_rooms("acme", [declared])
        assert not await tx.rooms.unbind(declared.id)


async def test_an_account_is_linked_by_its_code(store: SqlStore) -> None:
    commands = await prepared(store)
    async with store.begin() as tx:
        await tx.people.keep_code(await tx.people.add("ada", by="cli"), CODE, by="cli")
    assert "code" in said(await commands.say(arrival(), "link", " "))
    assert said(await commands.say(arrival(anonymous=True), "link", CODE)).startswith("A code")
    assert said(await commands.say(arrival(), "link", CODE)) == ("This account is ada from now on.")
    assert "unknown" in said(await commands.say(arrival(), "link", CODE))


async def test_the_same_delivery_is_answered_once(store: SqlStore) -> None:
    commands = await bound(store, client="acme")
    twice = arrival()
    assert await commands.say(twice, "status", "") is not None
    assert await commands.say(twice, "status", "") is None


async def test_status_always_answers(store: SqlStore) -> None:
    commands = await prepared(store)
    assert "tied to no client" in shown(await commands.say(arrival(), "status", ""))
    commands = await bound(store, client="acme")
    told = shown(await commands.say(arrival(), "status", ""))
    assert "investigation on · paging on" in told
    assert "connected: prometheus" in told
    assert "not connected: loki" in told
    assert "$0.00 of $5.00" in told


@pytest.mark.proves("S3-14", "S3-15")
async def test_help_says_what_a_team_room_may_ask_about(store: SqlStore) -> None:
    commands = await bound(store, team="web")
    assert "ask about acme, globex" in shown(await commands.say(arrival(), "help", ""))
    async with store.begin() as tx:
        await tx.session.execute(text("update clients set ai_triage = false where id = 'acme'"))
    assert "ask about globex." in shown(await commands.say(arrival(), "help", ""))
    assert "not a command" in said(await commands.say(arrival(), "dance", ""))


@pytest.mark.proves("S3-7", "S3-20")
async def test_flags_are_an_administrators_and_what_the_file_holds_is_locked(
    store: SqlStore,
) -> None:
    commands = await bound(store, client="acme")
    refused = said(await commands.say(arrival(), "settings", "ai_triage off"))
    assert refused == "Only an administrator may; nobody is one yet."
    await admin(store)
    told = shown(await commands.say(arrival(), "settings", ""))
    assert "ai_triage (AI investigation): on · set in caveat.yaml" in told
    assert "set in caveat.yaml" in said(await commands.say(arrival(), "settings", "ai_triage off"))
    assert said(await commands.say(arrival(), "settings", "ai_triage_manual on")) == (
        "acme: ai_triage_manual is on now."
    )
    assert "like:" in said(await commands.say(arrival(), "settings", "ai_triage_manual maybe"))
    assert "no flag named" in said(await commands.say(arrival(), "settings", "ai_traige on"))
    async with store.begin() as tx:
        assert (await tx.org.client("acme")).flags.ai_triage_manual
        kept = text("select facts from audit where action = 'flag set'")
        [facts] = (await tx.session.execute(kept)).scalars()
    assert facts == {"flag": "ai_triage_manual", "value": "on"}


async def test_an_administrator_of_one_client_changes_no_other(store: SqlStore) -> None:
    commands = await bound(store, team="web")
    await admin(store, "globex")
    told = said(await commands.say(arrival(), "settings", "acme remediation on"))
    assert told.startswith("Only an administrator may")
    assert "globex: remediation is on" in said(
        await commands.say(arrival(), "settings", "remediation on")
    )


async def test_several_clients_have_to_be_told_apart(store: SqlStore) -> None:
    commands = await bound(store, team="web")
    await admin(store)
    told = said(await commands.say(arrival(), "settings", "remediation on"))
    assert told == "Name the client first: acme, globex"
