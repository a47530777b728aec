"""Slack, incoming: through Bolt and Slack's own client, against the double, to the desk."""

import asyncio
from contextlib import AbstractAsyncContextManager
from copy import copy
from typing import Any

import pytest

from bot.drill.doubles.faults import bad_gateway
from bot.drill.doubles.slack import refused
from engine.errors import StoreUnavailableError
from engine.model.org import Role
from storage.store import SqlStore, SqlTx
from tests.bot.chats.slack_room import ROOM, Place, place, taking
from tests.bot.sending import until

YOURS = "It is yours; the card says so."
OLD = "This card is from an older version; use the newest one."
FULL_ONLY = "Only full members of this room can do that; you can read everything."


async def taken(here: Place) -> list[str]:
    rows = await here.stage.rows("select taken_by from incidents order by number")
    return [row.taken_by for row in rows]


@pytest.mark.parametrize("over_http", [False, True], ids=["socket", "http"])
async def test_a_press_changes_the_card_and_whoever_pressed_is_told(
    store: SqlStore, over_http: bool
) -> None:
    async with place(store, over_http=over_http) as here:
        _, ts = await here.card()
        delivery = await here.press(ts, "Take")
        await delivery.acknowledged()
        assert delivery.took_s < 0.5
        assert await here.told() == YOURS
        await until(lambda: here.says(ts, "alice"))
        assert len(here.slack.cards(ROOM)) == 1


async def test_of_two_people_in_the_same_second_one_wins_and_the_other_hears_who(
    store: SqlStore,
) -> None:
    async with place(store) as here:
        _, ts = await here.card()
        old = copy(here.shown(ts))
        for n in range(1, 13):
            both = (here.press(ts, "Take", who, old) for who in ("UALICE", "UBOB"))
            await asyncio.gather(*both)
            said = sorted([await here.told("UALICE", n), await here.told("UBOB", n)])
            (winner,) = await taken(here)
            assert said[1] == YOURS
            assert said[0].startswith(f"Already taken by {winner} at ")
            await here.stage.change("update incidents set taken_by = null, taken_at = null")


async def test_the_same_envelope_twice_is_one_press(store: SqlStore) -> None:
    async with place(store) as here:
        _, ts = await here.card(with_finding=True)
        delivery = await here.press(ts, "Take")
        await here.people.again(delivery)
        await here.told()
        await here.people.again(delivery)
        await here.press(ts, "Mute 1 h")
        await here.told(nth=2)
        assert len(here.slack.whispers("UALICE")) == 2


async def test_a_retry_after_a_lost_acknowledgement_does_nothing_again(store: SqlStore) -> None:
    async with place(store) as here:
        _, ts = await here.card(with_finding=True)
        here.slack.sockets.acks_to_lose = 2
        first, second = await here.press(ts, "Take"), await here.press(ts, "Wrong cause…")
        await here.told()
        await until(lambda: here.modal() is not None and "submit" in here.modal().shown)
        for delivery in (first, second):
            assert delivery.answered_s is None
            await here.people.again(delivery)
            await delivery.acknowledged()
        await here.press(ts, "Mute 1 h")
        await here.told(nth=2)
        assert len(here.slack.whispers("UALICE")) == 2
        assert len(here.slack.space.modals.open) == 1


async def test_a_retry_that_meets_another_process_does_nothing_again(store: SqlStore) -> None:
    async with place(store) as here:
        _, ts = await here.card()
        delivery = await here.press(ts, "Take")
        await here.told()
        here.stop.set()
        await until(lambda: here.slack.sockets.open == [])
        async with taking(here.stage, here.settings, store):
            await here.people.again(delivery)
            await here.press(ts, "Mute 1 h")
            await here.told(nth=2)
        assert here.slack.whispers("UALICE")[0] == YOURS
        assert "Already" not in here.slack.whispers("UALICE")[1]


async def test_what_is_asked_opens_at_once_and_is_handed_in(store: SqlStore) -> None:
    async with place(store) as here:
        _, ts = await here.card(with_finding=True)
        await here.press(ts, "Wrong cause…")
        await until(lambda: here.modal() is not None and "submit" in here.modal().shown)
        (opened,) = here.slack.accepted("views.open")
        assert "Loading…" in str(opened.given["view"])
        (filled,) = here.slack.accepted("views.update")
        assert filled.given["hash"]
        assert here.modal().shown["title"]["text"] == "Wrong cause"
        said = {"other_cause": "a certificate <!channel> ran out"}
        await here.people.submits(here.modal().id, said, "UALICE")
        assert await here.told() == "Noted: wrong cause."
        await until(lambda: here.says(ts, "a certificate"))
        assert not here.says(ts, "<!channel>")
        assert here.modal() is None


async def test_a_form_that_misses_something_stays_open_and_says_what(store: SqlStore) -> None:
    async with place(store) as here:
        ts = await resolved(here)
        await here.link("UALICE", "alice", Role.RESOLUTIONS_APPROVE)
        await here.press(ts, "Save to memory…")
        await until(lambda: here.modal() is not None and "submit" in here.modal().shown)
        empty = await here.people.submits(here.modal().id, {"fix": "   "}, "UALICE")
        errors = {"fix": "This is needed."}
        assert empty.answer == {"response_action": "errors", "errors": errors}
        await here.people.submits(here.modal().id, {"fix": "restart the pool"}, "UALICE")
        assert (await here.told()).startswith("Kept;")


async def resolved(here: Place) -> str:
    """A card of an incident that is over, with its finding."""
    incident, ts = await here.card(with_finding=True)
    await here.stage.change(
        "update incidents set state = 'resolved', resolved_at = clock_timestamp()"
    )
    await here.stage.wish(incident, "resolved")
    await until(lambda: here.says(ts, "Save to memory"))
    return ts


async def test_a_menu_entry_asks_as_well(store: SqlStore) -> None:
    async with place(store) as here:
        await here.card(service="payments")
        _, ts = await here.card(with_finding=True)
        await here.press(ts, "Same as…")
        await until(lambda: here.modal() is not None and "submit" in here.modal().shown)
        (menu,) = here.modal().shown["blocks"]
        first = menu["element"]["options"][0]["text"]["text"]
        await here.people.submits(here.modal().id, {menu["block_id"]: first}, "UALICE")
        assert (await here.told()).startswith("Merged;")


async def test_who_lacks_the_role_reads_it_in_the_modal_that_opened(store: SqlStore) -> None:
    async with place(store) as here:
        ts = await resolved(here)
        await here.press(ts, "Save to memory…")
        await until(lambda: here.modal() is not None and "may not" in str(here.modal().shown))
        assert "You may not approve what is kept here" in str(here.modal().shown)


async def test_a_user_group_stands_for_a_role_of_linked_people(store: SqlStore) -> None:
    groups = {"S1": ["resolutions:approve"], "S2": ["resolutions:approve"]}
    async with place(store, usergroups=groups) as here:
        here.slack.space.usergroups["S1"] = ["UALICE", "UBOB"]
        ts = await resolved(here)
        await here.link("UALICE", "alice")
        await here.front.read_groups()
        await here.press(ts, "Save to memory…")
        await until(lambda: here.modal() is not None and "submit" in here.modal().shown)
        await here.press(ts, "Save to memory…", "UBOB")
        await until(lambda: "may not" in str(here.modal("UBOB") and here.modal("UBOB").shown))


async def test_a_modal_that_was_closed_meanwhile_breaks_nothing(store: SqlStore) -> None:
    async with place(store) as here:
        ts = await resolved(here)
        here.slack.fail_next("views.update", refused("not_found"))
        await here.press(ts, "Save to memory…")
        assert (await here.told()).startswith("You may not")


@pytest.mark.parametrize("what", ["Wrong cause…", "Same as…"])
async def test_slacks_window_closed_is_said_and_nothing_else_happens(
    store: SqlStore, what: str
) -> None:
    async with place(store) as here:
        await here.card(service="payments")
        _, ts = await here.card(with_finding=True)
        here.slack.fail_next("views.open", refused("expired_trigger_id"))
        await here.press(ts, what)
        assert "press again" in await here.told()
        assert here.slack.space.modals.open == {}


@pytest.mark.parametrize(
    ("profile", "joined"),
    [
        ({"is_restricted": True}, True),
        ({"is_ultra_restricted": True, "is_restricted": True}, True),
        ({"is_stranger": True}, True),
        ({"team_id": "T0OTHERS"}, True),
        ({"is_bot": True}, True),
        ({"deleted": True}, True),
        ({}, False),
    ],
    ids=["guest", "one channel", "stranger", "other workspace", "bot", "deactivated", "outside"],
)
async def test_who_is_no_full_member_changes_nothing(
    store: SqlStore, profile: dict[str, Any], joined: bool
) -> None:
    async with place(store) as here:
        _, ts = await here.card()
        here.slack.person("UEVE", "eve", **profile)
        if not joined:
            here.slack.space.channels[ROOM].members.discard("UEVE")
        await here.press(ts, "Take", "UEVE")
        assert await here.told("UEVE") == FULL_ONLY
        assert await taken(here) == [None]


@pytest.mark.parametrize("method", ["users.info", "conversations.members", "auth.test"])
async def test_who_slack_does_not_vouch_for_changes_nothing(store: SqlStore, method: str) -> None:
    async with place(store) as here:
        _, ts = await here.card()
        here.slack.fail_next(method, bad_gateway())
        await here.press(ts, "Take")
        assert await here.told() == FULL_ONLY
        assert await taken(here) == [None]


async def test_who_is_deactivated_here_changes_nothing(store: SqlStore) -> None:
    async with place(store) as here:
        _, ts = await here.card()
        await here.link("UALICE", "alice", active=False)
        await here.press(ts, "Take")
        assert (await here.told()).startswith("Your account is deactivated here")
        assert await taken(here) == [None]


async def test_a_button_nobody_knows_any_more_says_so(store: SqlStore) -> None:
    async with place(store) as here:
        _, ts = await here.card()
        room, message = here.slack.space.channels[ROOM], here.shown(ts)
        for name in ("caveat.ancient", "caveat.take", "fix_it", "caveat.more"):
            done = {"type": "button", "action_id": name, "value": "v1|1|r1", "block_id": "b"}
            done |= {"text": {"type": "plain_text", "text": "Fix"}, "action_ts": "1.1"}
            await here.people.presses_any(room, message, done, "UALICE")
        assert [await here.told(nth=n) for n in range(1, 5)] == [OLD] * 4


async def test_someone_of_a_room_of_thousands_is_found(store: SqlStore) -> None:
    async with place(store) as here:
        _, ts = await here.card()
        here.slack.space.channels[ROOM].members |= {f"U0{n:04d}" for n in range(2500)}
        await here.press(ts, "Take")
        assert await here.told() == YOURS


async def test_events_nobody_listens_for_are_acknowledged(store: SqlStore) -> None:
    async with place(store) as here:
        for kind in ("app_home_opened", "channel_rename", "message"):
            event = {"type": kind, "user": "UALICE", "channel": ROOM, "ts": "1.1"}
            body = {"type": "event_callback", "event_id": "Ev1", "event": event}
            delivery = await here.people.deliver("events_api", body)
            await delivery.acknowledged()


async def test_a_link_needs_no_answer(store: SqlStore) -> None:
    async with place(store) as here:
        _, ts = await here.card()
        room, message = here.slack.space.channels[ROOM], here.shown(ts)
        done = {"type": "button", "action_id": "caveat.open", "url": "https://x.example"}
        delivery = await here.people.presses_any(room, message, done, "UALICE")
        await delivery.acknowledged()
        await here.press(ts, "Take")
        assert await here.told() == YOURS


async def test_an_answer_stands_in_the_thread_only_where_a_thread_is(store: SqlStore) -> None:
    async with place(store) as here:
        _, bare = await here.card()
        await here.press(bare, "Take")
        await here.told()
        _, threaded = await here.card(with_finding=True)
        await here.press(threaded, "Take")
        await here.told(nth=2)
        told = here.slack.space.ephemeral
        assert [one.get("thread_ts") for one in told] == [None, threaded]


async def test_why_shows_the_record_to_whoever_asks(store: SqlStore) -> None:
    async with place(store) as here:
        _, ts = await here.card(with_finding=True)
        here.slack.person("UEVE", "eve", is_restricted=True)
        await here.press(ts, "Why?", "UEVE")
        await here.told("UEVE")
        assert len(here.slack.space.ephemeral[0]["blocks"]) > 0


async def test_names_from_outside_are_inert_in_what_people_are_told(store: SqlStore) -> None:
    async with place(store) as here:
        _, ts = await here.card()
        here.slack.person("UEVE", "<!channel> `rm` *x* <https://evil.example|ok>")
        await here.press(ts, "Take", "UEVE")
        await here.told("UEVE")
        await here.press(ts, "Take")
        said = await here.told()
        assert said.startswith("Already taken by &lt;!channel&gt;")
        assert "<!channel" not in said
        assert "<https" not in said
        assert "`" not in said


async def test_it_is_acknowledged_at_once_while_the_desk_is_busy(store: SqlStore) -> None:
    async with place(store) as here:
        incident, ts = await here.card()
        async with store.begin() as tx:
            await tx.incidents.alone(incident.id)
            delivery = await here.press(ts, "Take")
            await delivery.acknowledged()
            assert delivery.took_s < 0.5
            assert here.slack.whispers("UALICE") == []
        assert await here.told() == YOURS


class Away:
    """A database that does not answer."""

    def begin(self) -> AbstractAsyncContextManager[SqlTx]:
        raise StoreUnavailableError


async def test_a_database_that_is_away_is_said(store: SqlStore) -> None:
    async with place(store, desk=Away()) as here:
        _, ts = await here.card(with_finding=True)
        await here.press(ts, "Take")
        assert (await here.told()).startswith("The database does not answer now")
        await here.press(ts, "Wrong cause…")
        await until(lambda: "database" in str(here.modal() and here.modal().shown))


async def test_what_nobody_expected_is_logged_and_said(
    store: SqlStore, caplog: pytest.LogCaptureFixture
) -> None:
    async with place(store) as here:
        _, ts = await here.card()
        await here.stage.change("alter table buttons rename to knobs")
        await here.press(ts, "Take")
        assert (await here.told()).startswith("That went wrong here")
        assert "a delivery of Slack was not dealt with" in caplog.text
        await here.stage.change("alter table knobs rename to buttons")


async def test_a_refused_whisper_is_told_by_slacks_own_address(store: SqlStore) -> None:
    async with place(store) as here:
        _, ts = await here.card()
        here.slack.space.channels[ROOM].members.discard("UBOB")
        await here.press(ts, "Take", "UBOB")
        assert await here.told("UBOB") == FULL_ONLY
        assert here.slack.space.ephemeral[0]["by_url"]
        assert here.slack.space.ephemeral[0]["replace_original"] is False


async def test_slack_makes_way_for_new_sockets_and_presses_go_on(store: SqlStore) -> None:
    async with place(store) as here:
        _, ts = await here.card()
        await here.slack.sockets.refresh()
        await until(lambda: here.slack.sockets.connected == 4)
        await here.press(ts, "Take")
        assert await here.told() == YOURS


async def test_a_socket_that_dies_is_made_anew_and_the_other_serves_meanwhile(
    store: SqlStore,
) -> None:
    async with place(store) as here:
        _, ts = await here.card()
        old = copy(here.shown(ts))
        here.slack.sockets.cut(0)
        await until(lambda: len(here.slack.sockets.open) == 1)
        await here.press(ts, "Take")
        assert await here.told() == YOURS
        here.slack.fail_next("apps.connections.open", bad_gateway())
        here.slack.sockets.cut()
        await until(lambda: len(here.slack.sockets.open) == 2)
        await here.press(ts, "Take", "UBOB", old)
        assert (await here.told("UBOB")).startswith("Already taken by alice")


async def test_what_was_acknowledged_is_answered_before_the_end(store: SqlStore) -> None:
    async with place(store) as here:
        incident, ts = await here.card()
        async with store.begin() as tx:
            await tx.incidents.alone(incident.id)
            delivery = await here.press(ts, "Take")
            await delivery.acknowledged()
            asyncio.get_running_loop().call_later(0.1, here.stop.set)
            await asyncio.sleep(0.2)
        assert await here.told() == YOURS
