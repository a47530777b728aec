"""The Slack double, through Slack's own client."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import aiohttp
import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.drill.doubles.faults import Hang, ReplyLost, Slow, answer, bad_gateway
from bot.drill.doubles.serve import serve
from bot.drill.doubles.slack import SlackDouble, rate_limited, refused

START = datetime(2026, 11, 30, 19, 0, tzinfo=UTC)


class Wall:
    def __init__(self) -> None:
        self.at = START

    def __call__(self) -> datetime:
        return self.at


@asynccontextmanager
async def workspace(**more: Any) -> AsyncIterator[tuple[SlackDouble, AsyncWebClient, Wall]]:
    wall = Wall()
    slack = SlackDouble(wall, **more)
    slack.channel("C1")
    slack.person("U1", "alice")
    async with serve(slack.app) as url:
        client = AsyncWebClient(slack.token, base_url=f"{url}/api/", timeout=1, retry_handlers=[])
        yield slack, client, wall


async def refusal(call: Any) -> dict[str, Any]:
    with pytest.raises(SlackApiError) as caught:
        await call
    return caught.value.response.data  # type: ignore[no-any-return]


def section(text: str) -> dict[str, Any]:
    return {"type": "section", "text": {"type": "mrkdwn", "text": text}}


async def test_a_card_is_posted_edited_in_place_and_rings_once() -> None:
    async with workspace() as (slack, client, _):
        sent = await client.chat_postMessage(channel="C1", text="a", blocks=[section("one")])
        await client.chat_update(channel="C1", ts=sent["ts"], text="b", blocks=[section("two")])
        (card,) = slack.cards("C1")
        assert (card.text, card.blocks) == ("b", [section("two")])
        assert [old.text for old in card.earlier] == ["a"]
        assert slack.audible("C1") == [card]


async def test_a_reply_hangs_in_the_thread_and_not_in_the_channel() -> None:
    async with workspace() as (slack, client, _):
        root = await client.chat_postMessage(channel="C1", text="card")
        await client.chat_postMessage(channel="C1", text="evidence", thread_ts=root["ts"])
        assert [m.text for m in slack.cards("C1")] == ["card"]
        assert [m.text for m in slack.thread("C1", root["ts"])] == ["evidence"]
        seen = await client.conversations_replies(channel="C1", ts=root["ts"])
        assert [m["text"] for m in seen["messages"]] == ["card", "evidence"]


async def test_an_edit_with_text_alone_removes_the_blocks() -> None:
    async with workspace() as (slack, client, _):
        sent = await client.chat_postMessage(channel="C1", text="a", blocks=[section("one")])
        await client.chat_update(channel="C1", ts=sent["ts"], text="b")
        assert slack.cards("C1")[0].blocks == []


async def test_history_gives_metadata_only_when_asked_and_starts_at_oldest() -> None:
    async with workspace() as (_, client, wall):
        mark = {"event_type": "caveat_card", "event_payload": {"key": "n1"}}
        await client.chat_postMessage(channel="C1", text="old")
        wall.at += timedelta(seconds=60)
        await client.chat_postMessage(channel="C1", text="new", metadata=mark)
        found = await client.conversations_history(
            channel="C1", include_all_metadata=True, oldest=str(int(wall.at.timestamp())), limit=5
        )
        assert [m["metadata"] for m in found["messages"]] == [mark]
        bare = await client.conversations_history(channel="C1")
        assert [m["text"] for m in bare["messages"]] == ["new", "old"]
        assert not any("metadata" in m for m in bare["messages"])


async def test_metadata_of_five_kilobytes_is_dropped_with_a_warning() -> None:
    async with workspace() as (slack, client, _):
        mark = {"event_type": "caveat_card", "event_payload": {"key": "x" * 5000}}
        sent = await client.chat_postMessage(channel="C1", text="a", metadata=mark)
        assert sent["warning"] == "metadata_too_large"
        assert slack.cards("C1")[0].metadata is None


async def test_invalid_blocks_are_refused_with_every_complaint() -> None:
    async with workspace() as (slack, client, _):
        blocks = [section(""), {"type": "chart"}]
        said = await refusal(client.chat_postMessage(channel="C1", text="t", blocks=blocks))
        assert said["error"] == "invalid_blocks"
        assert said["response_metadata"]["messages"] == [
            "[ERROR] must be more than 0 characters [json-pointer:/blocks/0/text/text]",
            "[ERROR] unsupported type: chart [json-pointer:/blocks/1/type]",
        ]
        assert slack.cards("C1") == []


async def test_thirteen_thousand_characters_fit_and_fourteen_thousand_do_not() -> None:
    async with workspace() as (_, client, _wall):
        fits = [section("x" * 2600)] * 5
        await client.chat_postMessage(channel="C1", text="t", blocks=fits)
        call = client.chat_postMessage(channel="C1", text="t", blocks=[section("x" * 2800)] * 5)
        assert (await refusal(call))["error"] == "msg_blocks_too_long"


async def test_a_long_text_is_cut_when_posted_and_refused_when_edited() -> None:
    async with workspace() as (slack, client, _):
        sent = await client.chat_postMessage(channel="C1", text="x" * 41_000)
        assert sent["warning"] == "message_truncated"
        assert len(slack.cards("C1")[0].text) == 40_000
        edit = client.chat_update(channel="C1", ts=sent["ts"], text="x" * 4001)
        assert (await refusal(edit))["error"] == "msg_too_long"


async def test_rooms_the_bot_cannot_write_to_are_refused_by_name() -> None:
    async with workspace() as (slack, client, _):
        slack.channel("C2", joined=False)
        slack.channel("C3").is_archived = True
        slack.channel("C4", joined=False, private=True)
        errors = [
            (await refusal(client.chat_postMessage(channel=c, text="x")))["error"]
            for c in ("C2", "C3", "C4", "C9")
        ]
        assert errors == ["not_in_channel", "is_archived", "channel_not_found", "channel_not_found"]
        silent = client.api_call("chat.postMessage", json={"channel": "C1", "text": ""})
        assert (await refusal(silent))["error"] == "no_text"


async def test_only_the_bots_own_messages_that_still_exist_can_be_edited() -> None:
    async with workspace() as (slack, client, _):
        theirs = slack.says("C1", "U1", "hello")
        foreign = await refusal(client.chat_update(channel="C1", ts=theirs.ts, text="x"))
        gone = await refusal(client.chat_update(channel="C1", ts="1.1", text="x"))
        assert [foreign["error"], gone["error"]] == ["cant_update_message", "message_not_found"]


async def test_a_wrong_token_and_a_revoked_one_are_told_apart() -> None:
    async with workspace() as (slack, client, _):
        client.token = "xoxb-other"
        assert (await refusal(client.auth_test()))["error"] == "invalid_auth"
        client.token, slack.dead_token = slack.token, "token_revoked"
        assert (await refusal(client.auth_test()))["error"] == "token_revoked"


async def test_a_missing_scope_is_named() -> None:
    async with workspace(scopes=["chat:write"]) as (_, client, _wall):
        await client.chat_postMessage(channel="C1", text="x")
        said = await refusal(client.conversations_history(channel="C1"))
        assert said["error"] == "missing_scope"
        assert (said["needed"], said["provided"]) == ("channels:history", "chat:write")


async def test_a_reply_lost_after_accepting_leaves_the_message_behind() -> None:
    async with workspace() as (slack, client, _):
        slack.fail_next("chat.postMessage", ReplyLost())
        with pytest.raises(aiohttp.ClientError):
            await client.chat_postMessage(channel="C1", text="card")
        assert len(slack.cards("C1")) == 1
        slack.fail_next("chat.postMessage", ReplyLost(accepted=False))
        with pytest.raises(aiohttp.ClientError):
            await client.chat_postMessage(channel="C1", text="card")
        assert len(slack.cards("C1")) == 1


@pytest.mark.parametrize(
    ("fault", "status"),
    [
        (rate_limited(7), 429),
        (answer(500, {"ok": False, "error": "internal_error"}), 500),
        (bad_gateway(), 502),
        (refused("fatal_error"), 200),
    ],
)
async def test_a_planted_answer_comes_once(fault: Any, status: int) -> None:
    async with workspace() as (slack, client, _):
        slack.fail_next("chat.postMessage", fault)
        with pytest.raises(SlackApiError) as caught:
            await client.chat_postMessage(channel="C1", text="card")
        assert caught.value.response.status_code == status
        assert slack.cards("C1") == []
        await client.chat_postMessage(channel="C1", text="card")
        assert len(slack.cards("C1")) == 1


async def test_a_slow_answer_and_none_at_all_time_out_at_the_client() -> None:
    async with workspace() as (slack, client, _):
        slack.fail_next("auth.test", Slow(0.05))
        assert (await client.auth_test())["ok"]
        slack.fail_next("auth.test", Hang())
        with pytest.raises(TimeoutError):
            await client.auth_test()


async def test_a_closed_channel_says_how_long_and_the_others_stay_open() -> None:
    async with workspace() as (slack, client, wall):
        slack.channel("C2")
        slack.close_channel("C1", 30)
        with pytest.raises(SlackApiError) as caught:
            await client.chat_postMessage(channel="C1", text="x")
        assert caught.value.response.headers["Retry-After"] == "30"
        await client.chat_postMessage(channel="C2", text="x")
        wall.at += timedelta(seconds=30)
        await client.chat_postMessage(channel="C1", text="x")


async def test_a_strict_channel_takes_one_post_a_second() -> None:
    async with workspace(strict_rate=True) as (slack, client, wall):
        sent = await client.chat_postMessage(channel="C1", text="x")
        with pytest.raises(SlackApiError) as caught:
            await client.chat_postMessage(channel="C1", text="y")
        assert caught.value.response.headers["Retry-After"] == "1"
        await client.chat_update(channel="C1", ts=sent["ts"], text="z")
        wall.at += timedelta(seconds=1)
        await client.chat_postMessage(channel="C1", text="y")
        assert len(slack.cards("C1")) == 2


async def test_a_chart_is_uploaded_into_the_thread() -> None:
    async with workspace() as (slack, client, _):
        root = await client.chat_postMessage(channel="C1", text="card")
        await client.files_upload_v2(
            channel="C1", thread_ts=root["ts"], file=b"\x89PNG\r\n", filename="p99.png",
            title="p99", alt_txt="p99 rises", initial_comment="chart",
        )  # fmt: skip
        (reply,) = slack.thread("C1", root["ts"])
        (file,) = slack.space.files.values()
        assert (reply.text, reply.files) == ("chart", [file.id])
        assert (file.content, file.title, file.alt_text) == (b"\x89PNG\r\n", "p99", "p99 rises")


async def test_a_whisper_reaches_members_only_and_is_no_message() -> None:
    async with workspace() as (slack, client, _):
        await client.chat_postEphemeral(channel="C1", user="U1", text="ask bob")
        stranger = client.chat_postEphemeral(channel="C1", user="U7", text="x")
        assert (await refusal(stranger))["error"] == "user_not_in_channel"
        assert [said["text"] for said in slack.space.ephemeral] == ["ask bob"]
        assert slack.audible("C1") == []


async def test_people_rooms_and_reactions_are_known() -> None:
    async with workspace() as (slack, client, _):
        sent = await client.chat_postMessage(channel="C1", text="x")
        assert (await client.users_info(user="U1"))["user"]["name"] == "alice"
        assert (await client.conversations_info(channel="C1"))["channel"]["is_member"]
        assert "U1" in (await client.conversations_members(channel="C1"))["members"]
        assert [c["id"] for c in (await client.conversations_list())["channels"]] == ["C1"]
        await client.reactions_add(channel="C1", timestamp=sent["ts"], name="eyes")
        again = client.reactions_add(channel="C1", timestamp=sent["ts"], name="eyes")
        assert (await refusal(again))["error"] == "already_reacted"
        assert [call.method for call in slack.accepted("reactions.add")] == ["reactions.add"]
