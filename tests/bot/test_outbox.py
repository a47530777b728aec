"""The outbox between a real database and the chats' own client libraries."""

import asyncio
import json
from datetime import timedelta

import pytest
from sqlalchemy import text

from bot.drill.doubles import slack as slack_double
from bot.drill.doubles import telegram as telegram_double
from bot.drill.doubles.faults import ReplyLost, Slow, bad_gateway
from bot.outbox.pace import Rate
from bot.outbox.waits import unsure_s
from engine.model.alert import Severity
from engine.model.org import Platform, Room
from storage.store import SqlStore
from tests.bot.sending import SLACK, TELEGRAM, stage, until

SECOND = Room(id="s2", platform=Platform.SLACK, chat="C2")


async def test_an_incident_has_one_card_in_every_chat_and_edits_happen_in_place(
    store: SqlStore,
) -> None:
    async with stage(store, SLACK, TELEGRAM) as s, s.running():
        incident = await s.incident()
        await s.wish(incident)
        await s.settled()
        await s.change("update incidents set state = 'resolved', resolved_at = now()")
        await s.wish(incident, "resolved")
        await s.settled()
        (card,) = s.slack.cards("C1")
        (message,) = s.telegram.messages(-1001)
        assert "🟢" in card.blocks[0]["text"]["text"]
        assert (len(card.earlier), message.edits) == (1, 1)
        assert s.counted("facts_card_seconds_count") == 2
        sent = {"platform": "slack", "kind": "card"}
        assert s.counted("chat_messages_total", **sent, result="sent") == 1
        assert s.counted("card_audible_total", **sent) == 1


async def test_an_edit_that_would_say_the_same_is_not_sent(store: SqlStore) -> None:
    async with stage(store, SLACK) as s, s.running():
        incident = await s.incident()
        await s.wish(incident)
        await s.settled()
        await s.wish(incident, "facts")
        await s.settled()
        assert not s.slack.accepted("chat.update")


async def test_fifty_wishes_become_few_edits_and_the_newest_revision_is_shown(
    store: SqlStore,
) -> None:
    async with stage(store, SLACK) as s, s.running(rates={Platform.SLACK: Rate(edit_gap_s=0.3)}):
        incident = await s.incident()
        await s.wish(incident)
        await s.settled()
        for n in range(50):
            await s.change(f"update incidents set occurrences = {n + 2}, number = {n + 100}")
            await s.wish(incident, "attached")
        await s.settled()
        (card,) = s.slack.cards("C1")
        # What is shown is the newest; the last wish may find that it is shown already.
        assert "incident 149" in json.dumps(card.blocks)
        assert 1 <= len(s.slack.accepted("chat.update")) <= 12
        shown = [int(m.metadata["event_payload"]["revision"]) for m in card.earlier if m.metadata]
        assert shown == sorted(shown)


async def test_a_lost_reply_leaves_one_card_on_slack(store: SqlStore) -> None:
    async with stage(store, SLACK) as s:
        s.slack.fail_next("chat.postMessage", ReplyLost(accepted=True))
        async with s.running():
            await s.wish(await s.incident())
            await s.settled()
        assert len(s.slack.cards("C1")) == 1


async def test_a_post_that_was_cut_off_before_it_took_effect_is_made_again(
    store: SqlStore,
) -> None:
    async with stage(store, SLACK) as s:
        s.slack.fail_next("chat.postMessage", bad_gateway())
        async with s.running():
            await s.wish(await s.incident())
            await s.settled()
        assert len(s.slack.cards("C1")) == 1


async def test_a_crash_between_post_and_settling_leaves_one_card_on_slack_and_counts_on_telegram(
    store: SqlStore,
) -> None:
    async with stage(store, SLACK, TELEGRAM) as s:
        incident = await s.incident()
        async with s.running():
            await s.wish(incident)
            await s.settled()
        # What a kill between the chat's answer and our commit leaves behind.
        await s.change(
            "update cards set message_ref = null, sent = 0, sent_hash = null, posted_at = null,"
            " posting_since = clock_timestamp(), due_at = clock_timestamp()"
        )
        async with s.running():
            await s.settled()
        assert len(s.slack.cards("C1")) == 1
        assert len(s.telegram.messages(-1001)) == 2
        repeated = {"platform": "telegram", "kind": "card", "result": "repeated"}
        assert s.counted("chat_messages_total", **repeated) == 1


async def test_a_wait_is_at_least_what_was_asked_and_other_channels_go_on(
    store: SqlStore,
) -> None:
    other = SECOND.model_copy(update={"match": {"team": "b"}})
    async with stage(store, other, SLACK) as s:
        s.slack.fail_next("chat.postMessage", slack_double.rate_limited(2))
        async with s.running():
            await s.wish(await s.incident())
            await until(lambda: bool(s.slack.calls))
            await s.wish(await s.incident(team="b"))
            await until(lambda: len(s.slack.cards("C2")) == 1, 1.5)
            assert not s.slack.cards("C1")
            await s.settled()
        times = [c.at for c in s.slack.calls if c.given["channel"] == "C1"]
        assert (times[1] - s.slack.calls[0].at).total_seconds() >= 2


async def test_refused_blocks_become_a_plain_card_that_still_tells_the_incident(
    store: SqlStore,
) -> None:
    async with stage(store, SLACK, TELEGRAM) as s:
        s.slack.fail_next("chat.postMessage", slack_double.refused("invalid_blocks"), 2)
        no = telegram_double.refused(400, "Bad Request: can't parse entities: x at byte offset 1")
        s.telegram.fail_next("sendMessage", no, 2)
        async with s.running():
            await s.wish(await s.incident())
            await s.settled()
        (card,) = s.slack.cards("C1")
        (message,) = s.telegram.messages(-1001)
        assert not card.blocks
        assert "CheckoutHighErrorRate" in card.text
        assert "CheckoutHighErrorRate" in message.text


async def test_at_most_three_messages_of_an_incident_ring_in_a_room(store: SqlStore) -> None:
    async with stage(store, TELEGRAM) as s, s.running():
        incident = await s.incident()
        await s.wish(incident)
        for n in range(1, 6):
            await s.finding(incident, n)
            await s.settled()
        assert len(s.telegram.audible(-1001)) == 3
        assert len(s.telegram.messages(-1001)) == 1 + 5 + 1
        assert s.counted("card_audible_total", platform="telegram", kind="thread") == 2


async def test_slack_gets_no_reply_that_would_ring_a_fourth_time(store: SqlStore) -> None:
    async with stage(store, SLACK) as s, s.running():
        incident = await s.incident()
        await s.wish(incident)
        for n in range(1, 5):
            await s.finding(incident, n)
            await s.settled()
        (card,) = s.slack.cards("C1")
        replies = [
            m.metadata["event_payload"]["state"]
            for m in s.slack.thread("C1", card.ts)
            if m.metadata
        ]
        assert sorted(replies) == ["evidence", "finding_reply", "finding_reply"]


async def test_a_new_card_that_can_wait_is_silent(store: SqlStore) -> None:
    async with stage(store, TELEGRAM) as s, s.running():
        await s.wish(await s.incident(Severity.WARNING))
        await s.settled()
        assert len(s.telegram.messages(-1001)) == 1
        assert not s.telegram.audible(-1001)


async def test_a_kicked_bot_takes_its_cards_to_the_fallback_with_a_dead_letter_and_a_notice(
    store: SqlStore,
) -> None:
    async with stage(store, SLACK, SECOND) as s:
        s.slack.space.channels["C1"].members.clear()
        async with s.running():
            incident = await s.incident()
            await s.wish(incident)
            await s.settled()
            texts = [card.text for card in s.slack.cards("C2")]
            assert sorted("not reachable" in t for t in texts) == [False, True]
            ((reason, error),) = await s.rows("select reason, error from dead_letters")
            assert (reason, "not_in_channel" in error) == ("delivery_failed", True)
            # The room is known to be broken: the next incident goes straight to the other one.
            calls = len([c for c in s.slack.calls if c.given.get("channel") == "C1"])
            await s.wish(await s.incident())
            await s.settled()
            assert len([c for c in s.slack.calls if c.given.get("channel") == "C1"]) == calls
            assert len(s.slack.cards("C2")) == 3


async def test_without_a_room_the_log_has_the_card(
    store: SqlStore, caplog: pytest.LogCaptureFixture
) -> None:
    async with stage(store) as s, s.running():
        await s.wish(await s.incident())
        await s.settled()
    assert "CheckoutHighErrorRate" in caplog.text


async def test_a_platform_without_a_token_is_a_room_that_cannot_be_reached(
    store: SqlStore, caplog: pytest.LogCaptureFixture
) -> None:
    async with stage(store, SLACK) as s:
        del s.chats[Platform.SLACK]
        async with s.running():
            await s.wish(await s.incident())
            await s.settled()
        assert len(await s.rows("select 1 from dead_letters")) == 1
        assert len(await s.rows("select 1 from cards where message_ref is not null")) == 1


async def test_a_dead_token_stops_its_platform_and_keeps_the_outbox(
    store: SqlStore, caplog: pytest.LogCaptureFixture
) -> None:
    async with stage(store, SLACK, TELEGRAM) as s:
        s.slack.dead_token = "token_revoked"
        async with s.running():
            await s.wish(await s.incident())
            await s.wish(await s.incident())
            await until(lambda: len(s.telegram.messages(-1001)) == 2)
            await until(lambda: bool(s.slack.calls))
            await asyncio.sleep(0.3)
        assert len(s.slack.calls) == 1
        waiting = await s.rows("select 1 from cards where room_id = 's' and wanted > sent")
        assert len(waiting) == 2
        assert "token_revoked" in caplog.text


async def test_a_chat_that_moved_gets_a_new_card_under_its_new_id(store: SqlStore) -> None:
    async with stage(store, TELEGRAM) as s:
        s.telegram.space.chats[-1001].migrated_to = -1002
        s.telegram.chat(-1002)
        async with s.running():
            await s.wish(await s.incident())
            await s.settled()
        assert len(s.telegram.messages(-1002)) == 1


async def test_a_deleted_card_is_posted_anew_once(store: SqlStore) -> None:
    async with stage(store, SLACK) as s, s.running():
        incident = await s.incident()
        await s.wish(incident)
        await s.settled()
        s.slack.space.channels["C1"].messages.clear()
        await s.change("update incidents set state = 'resolved', resolved_at = now()")
        await s.wish(incident, "resolved")
        await s.settled()
        assert len(s.slack.cards("C1")) == 1


async def test_thirty_new_cards_in_a_minute_become_twenty_and_one_digest_edited_in_place(
    store: SqlStore,
) -> None:
    async with stage(store, SLACK, TELEGRAM) as s, s.running():
        made = [await s.incident(Severity.HIGH, f"Rule{n}") for n in range(29)]
        for incident in made:
            await s.wish(incident)
        await s.settled()
        grave = await s.incident(Severity.CRITICAL, "Gravest")
        await s.wish(grave)
        await s.settled()
        storm = [m for m in s.slack.cards("C1") if m.text.startswith("STORM")]
        assert len(s.slack.cards("C1")) == 22
        assert len(storm) == 1
        assert "9 incidents" in storm[0].text
        assert len(s.telegram.messages(-1001)) == 8
        folded = "select 1 from cards where digest_id is not null and message_ref is null"
        assert len(await s.rows(folded)) == 9 + 23
        # A finding is worth a card of its own once there is room for one.
        await s.change("update cards set posted_at = posted_at - interval '2 minutes'")
        await s.finding(made[-1])
        await s.settled()
        assert len(s.slack.cards("C1")) == 23
        assert "8 incidents" in next(m for m in s.slack.cards("C1") if "STORM" in m.text).text


async def test_hostile_labels_stay_inert_all_the_way(store: SqlStore) -> None:
    evil = "<!channel> <@U1> <https://evil.example|Grafana> *b* @here </b>&lt;"
    async with stage(store, SLACK, TELEGRAM) as s, s.running():
        await s.wish(await s.incident(rule=evil, service=evil, namespace=evil))
        await s.settled()
        (card,) = s.slack.cards("C1")
        (message,) = s.telegram.messages(-1001)
        wire = str(card.blocks) + card.text
        assert "<!channel" not in wire
        assert "<@U1" not in wire
        assert "<https://evil" not in wire
        assert {e.kind for e in message.body.entities} <= {
            "b",
            "i",
            "code",
            "tg-time",
            "blockquote",
        }


async def test_first_contact_is_one_digest(store: SqlStore) -> None:
    async with stage(store, SLACK) as s, s.running():
        for n in range(3):
            await s.incident(rule=f"Old{n}")
        await s.change("update incidents set first_contact = true")
        async with store.begin() as tx:
            await tx.cards.wish_digest("default", "first_contact", "default:alertmanager")
        await s.settled()
        (card,) = s.slack.cards("C1")
        assert "FIRST CONTACT · 3 rules" in card.text


async def test_what_is_due_is_still_sent_after_a_stop(store: SqlStore) -> None:
    async with stage(store, SLACK) as s:
        await s.wish(await s.incident())
        stop = asyncio.Event()
        stop.set()
        await asyncio.wait_for(s.outbox().run(stop), 5)
        assert len(s.slack.cards("C1")) == 1


async def test_no_transaction_is_open_while_a_chat_is_asked(store: SqlStore) -> None:
    async with stage(store, SLACK) as s:
        s.slack.fail_next("chat.postMessage", Slow(0.5))
        async with s.running():
            await s.wish(await s.incident())
            await until(lambda: not s.slack.faults.waiting["chat.postMessage"])
            async with store.engine.connect() as connection:
                idle = await connection.execute(
                    text(
                        "select count(*) from pg_stat_activity"
                        " where state = 'idle in transaction' and datname = current_database()"
                    )
                )
                assert idle.scalar_one() == 0
            await s.settled()


async def test_two_outboxes_and_a_wish_in_the_middle_of_a_post_make_one_card(
    store: SqlStore,
) -> None:
    async with stage(store, SLACK) as s:
        s.slack.fail_next("chat.postMessage", Slow(0.6))
        async with s.running(), s.running():
            incident = await s.incident()
            await s.wish(incident)
            await until(lambda: not s.slack.faults.waiting["chat.postMessage"])
            await s.change("update incidents set occurrences = 7, number = 77")
            await s.wish(incident, "attached")
            await s.settled()
        (card,) = s.slack.cards("C1")
        assert "incident 77" in str(card.blocks)


async def test_a_telegram_post_of_unknown_fate_waits_half_a_minute_before_it_is_repeated(
    store: SqlStore,
) -> None:
    async with stage(store, TELEGRAM) as s:
        s.telegram.fail_next("sendMessage", ReplyLost(accepted=True))
        async with s.running():
            incident = await s.incident()
            await s.wish(incident)
            await until(lambda: bool(s.telegram.messages(-1001)))
            # Another wish does not shorten the wait.
            await s.wish(incident, "facts")
            await asyncio.sleep(1.5)
            assert len(s.telegram.messages(-1001)) == 1
        ((wait_s,),) = await s.rows("select extract(epoch from due_at - now()) from cards")
        assert 20 < wait_s <= 30


@pytest.mark.parametrize(
    ("attempts", "edit", "finds", "wait_s"),
    [
        (1, False, True, 2),
        (6, False, True, 60),
        (1, False, False, 30),
        (2, False, False, 60),
        (9, False, False, 600),
        (1, True, False, 2),
    ],
)
def test_a_repeat_that_may_double_a_card_waits_longer(
    attempts: int, edit: bool, finds: bool, wait_s: float
) -> None:
    assert unsure_s(attempts, edit=edit, finds=finds) == wait_s


async def test_who_took_it_is_called_where_their_account_is_one_of_the_chat(
    store: SqlStore,
) -> None:
    async with stage(store, SLACK, TELEGRAM) as s, s.running():
        incident = await s.incident()
        async with store.begin() as tx:
            await tx.incidents.take(incident.id, "alice", "slack:U0ALICE")
        await s.wish(incident)
        await s.finding(incident)
        await s.settled()
        [card] = s.slack.cards("C1")
        replies = [m.text + str(m.blocks) for m in s.slack.thread("C1", card.ts)]
        assert sum("<@U0ALICE>" in said for said in replies) == 1
        assert "taken by alice" in s.telegram.messages(-1001)[0].text
        assert not any("U0ALICE" in m.text for m in s.telegram.messages(-1001))


async def test_an_incident_that_gets_graver_rings_once_more_unless_it_is_muted(
    store: SqlStore,
) -> None:
    async with stage(store, TELEGRAM) as s, s.running():
        incident = await s.incident()
        await s.wish(incident)
        async with store.begin() as tx:
            await tx.cards.wish_message(incident, "severity", "critical", audible=True)
        await s.settled()
        assert "now CRITICAL" in s.telegram.audible(-1001)[1].text
        key = incident.group_of(incident.lead).family_key
        async with store.begin() as tx:
            now = await tx.now()
            client = incident.client_id
            await tx.mutes.keep(client, key, now + timedelta(hours=1), "alice")
        await s.finding(incident)
        await s.settled()
        assert len(s.telegram.audible(-1001)) == 2
        assert s.telegram.messages(-1001)[2].silent
