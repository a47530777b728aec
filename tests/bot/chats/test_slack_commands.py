"""Commands, mentions and shortcuts in Slack; signed requests; what is refused at the door."""

from datetime import timedelta
from typing import Any

import httpx
import pytest

from bot.chats.slack.client import connect
from bot.chats.slack.groups import EVERY_S, STALE_S, Usergroups
from bot.cli.rooms import keep
from bot.config import SlackSettings
from bot.drill.doubles.faults import bad_gateway
from bot.drill.doubles.serve import serve
from bot.drill.doubles.slack import SlackDouble
from bot.drill.doubles.slack_deliver import signature
from bot.drill.doubles.slack_people import Address
from engine.model.org import Role
from storage.store import SqlStore
from tests.bot.chats.slack_room import DM, ROOM, SECRET, place
from tests.bot.sending import until
from tests.metrics_fakes import HandClock

NOTHING_HERE = "Nothing may be asked about here: investigation is off, or no room is tied."


@pytest.mark.parametrize("over_http", [False, True], ids=["socket", "http"])
async def test_a_command_is_answered_by_its_address_wherever_it_is_said(
    store: SqlStore, over_http: bool
) -> None:
    async with place(store, over_http=over_http) as here:
        for channel in (ROOM, DM, "C0ELSEWHERE"):
            await here.people.commands(channel, "/caveat", "status", "UALICE")
        for nth in (1, 2, 3):
            await here.told(nth=nth)
        told = here.slack.space.ephemeral
        assert all(one["by_url"] and "Status" in str(one["blocks"]) for one in told)
        assert sum("default" in str(one["blocks"]) for one in told) == 1


async def test_a_command_delivered_twice_is_answered_once(store: SqlStore) -> None:
    async with place(store) as here:
        first = await here.people.commands(ROOM, "/caveat", "help", "UALICE")
        await here.people.again(first)
        await here.people.commands(ROOM, "/caveat", "nonsense", "UALICE")
        await here.told(nth=2)
        assert len(here.slack.whispers("UALICE")) == 2


async def test_a_code_ties_an_account_in_a_direct_message(store: SqlStore) -> None:
    async with place(store) as here:
        async with store.begin() as tx:
            person = await tx.people.add("Ada", by="test")
            await tx.people.keep_code(person, "CODE-1", by="test")
        await here.people.commands(DM, "/caveat", "link CODE-1", "UALICE")
        assert "This account is" in await here.told()
        _, ts = await here.card()
        await here.press(ts, "Take")
        await until(lambda: here.says(ts, "Ada"))
        rows = await here.stage.rows("select timezone from people")
        assert [row.timezone for row in rows] == ["Europe/Berlin"]


@pytest.mark.parametrize(
    ("profile", "creator", "tied"),
    [
        ({}, "U0OWNER", False),
        ({"is_admin": True}, "U0OWNER", True),
        ({"is_owner": True}, "U0OWNER", True),
        ({}, "UEVE", True),
        ({"is_admin": True, "is_restricted": True}, "U0OWNER", False),
    ],
)
async def test_a_room_is_tied_by_who_runs_it(
    store: SqlStore, profile: dict[str, Any], creator: str, tied: bool
) -> None:
    async with place(store) as here:
        here.slack.channel("C0NEW").creator = creator
        here.slack.person("UEVE", "eve", **profile)
        async with store.begin() as tx:
            await keep(tx, "CODE-2", "default", None, by="test")
        await here.people.commands("C0NEW", "/caveat", "bind CODE-2", "UEVE")
        assert ("is tied to" in await here.told("UEVE")) is tied


async def test_a_mention_is_answered_where_it_stands(store: SqlStore) -> None:
    async with place(store) as here:
        _, ts = await here.card(with_finding=True)
        await here.people.mentions(ROOM, "UALICE", "help")
        await here.people.mentions(ROOM, "UBOB", "why is it <slow>?", thread_ts=ts)
        await here.told()
        assert await here.told("UBOB") == NOTHING_HERE
        by_user = {one["user"]: one.get("thread_ts") for one in here.slack.space.ephemeral}
        assert by_user == {"UALICE": None, "UBOB": ts}


async def test_a_message_can_be_asked_about(store: SqlStore) -> None:
    async with place(store) as here:
        message = here.slack.says(ROOM, "UBOB", "checkout &lt;is&gt; slow")
        await here.people.asks_about(ROOM, message.ts, "caveat.ask_message", "UALICE")
        assert await here.told() == NOTHING_HERE


async def test_a_question_becomes_a_card_below_what_asked_it(store: SqlStore) -> None:
    async with place(store) as here:
        async with store.begin() as tx:
            await tx.org.declare_client("default", {"ai_triage": True})
        _, ts = await here.card()
        asked = "what is up with the moon?"
        await here.people.mentions(ROOM, "UALICE", asked, thread_ts=ts)
        await until(lambda: len(here.slack.thread(ROOM, ts)) == 2)
        assert here.slack.thread(ROOM, ts)[-1].user != "UALICE"
        assert here.slack.whispers("UALICE") == []


async def test_what_is_not_signed_by_slack_is_refused_and_does_nothing(store: SqlStore) -> None:
    async with place(store, over_http=True) as here:
        _, ts = await here.card()
        right = here.people.over_http
        assert right is not None
        here.people.over_http = Address(right.url, "another secret")
        forged = await here.press(ts, "Take")
        here.people.over_http = right
        now = here.slack.now
        here.slack.space.now = lambda: now() - timedelta(minutes=6)
        old = await here.press(ts, "Take")
        here.slack.space.now = lambda: now() + timedelta(minutes=6)
        early = await here.press(ts, "Take")
        assert [one.status for one in (forged, old, early)] == [401, 401, 401]
        rows = await here.stage.rows("select taken_by from incidents")
        assert [row.taken_by for row in rows] == [None]


@pytest.mark.parametrize("stamp", ["", "now", "²", "1e9"])
async def test_a_request_without_a_time_is_refused(store: SqlStore, stamp: str) -> None:
    async with place(store, over_http=True) as here:
        assert here.people.over_http is not None
        signed = {"X-Slack-Signature": signature(SECRET, stamp, b"{}")}
        headers = {**signed, "X-Slack-Request-Timestamp": stamp.encode()}
        async with httpx.AsyncClient(trust_env=False) as http:
            said = await http.post(here.people.over_http.url, content=b"{}", headers=headers)  # type: ignore[arg-type]
        assert said.status_code == 401


async def test_slack_makes_sure_of_the_address_by_a_challenge(store: SqlStore) -> None:
    async with place(store, over_http=True) as here:
        challenge = {"type": "url_verification", "challenge": "c3p0", "token": "t"}
        said = await here.people.deliver("events_api", challenge)
        assert (said.status, said.answer) == (200, {"challenge": "c3p0"})


async def test_user_groups_are_read_beside_the_presses_and_fail_closed() -> None:
    hand = HandClock()
    slack = SlackDouble(hand.now)
    slack.space.usergroups["S1"] = ["U1"]
    async with serve(slack.app) as url:
        settings = SlackSettings(base_url=f"{url}/api/")
        client = connect(settings, token=slack.token)
        roles = {"S1": [Role.RUNBOOKS_EXECUTE], "S2": [Role.RUNBOOKS_EXECUTE, Role.ADMIN]}
        groups = Usergroups(client, hand, roles)
        assert groups.roles_of("U1") == ()
        await groups.read()
        assert groups.roles_of("U1") == (Role.RUNBOOKS_EXECUTE,)
        slack.space.usergroups["S1"] = []
        slack.fail_next("usergroups.users.list", bad_gateway(), 2)
        await groups.read()
        assert groups.roles_of("U1") == (Role.RUNBOOKS_EXECUTE,)
        hand.elapsed_s += STALE_S
        assert groups.roles_of("U1") == ()
        await groups.read()
        assert groups.roles_of("U1") == ()
        assert EVERY_S < STALE_S
