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


def button(**more: Any) -> dict[str, Any]:
    said = {"type": "plain_text", "text": "Approve"}
    return {"type": "button", "text": said, "action_id": "approve", **more}


def actions(*elements: dict[str, Any]) -> dict[str, Any]:
    return {"type": "actions", "elements": list(elements)}


def plain(text: str) -> dict[str, Any]:
    return {"type": "plain_text", "text": text}


def overflow(count: int) -> dict[str, Any]:
    options = [{"text": plain("o"), "value": str(n)} for n in range(count)]
    return {"type": "overflow", "action_id": "more", "options": options}


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


WRONG_BLOCKS = [
    ([section("x")] * 51, "no more than 50 items allowed [json-pointer:/blocks]"),
    ([section("x" * 3001)], "must be less than 3001 characters [json-pointer:/blocks/0/text/text]"),
    ([section("")], "must be more than 0 characters [json-pointer:/blocks/0/text/text]"),
    ([{"type": "section"}], "missing required field: text [json-pointer:/blocks/0]"),
    (
        [{"type": "section", "fields": [plain("x")] * 11}],
        "no more than 10 items allowed [json-pointer:/blocks/0/fields]",
    ),
    (
        [{"type": "section", "fields": [plain("x" * 2001)]}],
        "must be less than 2001 characters [json-pointer:/blocks/0/fields/0/text]",
    ),
    (
        [{"type": "header", "text": plain("x" * 151)}],
        "must be less than 151 characters [json-pointer:/blocks/0/text/text]",
    ),
    (
        [{"type": "header", "text": {"type": "mrkdwn", "text": "x"}}],
        "unsupported type: mrkdwn [json-pointer:/blocks/0/text/type]",
    ),
    (
        [{"type": "context", "elements": [plain("x")] * 11}],
        "no more than 10 items allowed [json-pointer:/blocks/0/elements]",
    ),
    (
        [actions(*[button(action_id=str(n)) for n in range(26)])],
        "no more than 25 items allowed [json-pointer:/blocks/0/elements]",
    ),
    (
        [actions(button(text=plain("x" * 76)))],
        "must be less than 76 characters [json-pointer:/blocks/0/elements/0/text/text]",
    ),
    (
        [actions(button(value="x" * 2001))],
        "must be less than 2001 characters [json-pointer:/blocks/0/elements/0/value]",
    ),
    (
        [actions(button(action_id="x" * 256))],
        "must be less than 256 characters [json-pointer:/blocks/0/elements/0/action_id]",
    ),
    (
        [actions(button(style="green"))],
        "must be a valid enum value [json-pointer:/blocks/0/elements/0/style]",
    ),
    (
        [actions(button(confirm={"title": plain("x" * 101), "text": plain("x"),
                                 "confirm": plain("y"), "deny": plain("n")}))],
        "must be less than 101 characters [json-pointer:/blocks/0/elements/0/confirm/title/text]",
    ),
    (
        [actions(button(confirm={"title": plain("x"), "text": plain("x" * 301),
                                 "confirm": plain("y"), "deny": plain("n")}))],
        "must be less than 301 characters [json-pointer:/blocks/0/elements/0/confirm/text/text]",
    ),
    (
        [actions(overflow(6))],
        "no more than 5 items allowed [json-pointer:/blocks/0/elements/0/options]",
    ),
    (
        [actions(overflow(0))],
        "no fewer than 1 items required [json-pointer:/blocks/0/elements/0/options]",
    ),
    (
        [actions(button(), button())],
        "`action_id` approve already exists [json-pointer:/blocks/0/elements]",
    ),
    (
        [section("a") | {"block_id": "b"}, section("c") | {"block_id": "b"}],
        "`block_id` b already exists [json-pointer:/blocks]",
    ),
    (
        [{"type": "alert", "text": plain("x"), "level": "warning"}],
        "unsupported type: alert [json-pointer:/blocks/0/type]",
    ),
    ([{"type": "chart"}], "unsupported type: chart [json-pointer:/blocks/0/type]"),
    (
        [section("x") | {"colour": "red"}],
        "invalid additional property: colour [json-pointer:/blocks/0]",
    ),
    (
        [{"type": "image", "image_url": "http://x.example/a.png"}],
        "missing required field: alt_text [json-pointer:/blocks/0]",
    ),
    (
        [{"type": "table", "rows": [[{"type": "raw_text", "text": "x"}]] * 101}],
        "no more than 100 items allowed [json-pointer:/blocks/0/rows]",
    ),
    (
        [{"type": "container", "title": plain("t"), "child_blocks": [section("x")],
          "is_collapsible": True, "has_header_divider": True}],
        "must not be used with is_collapsible [json-pointer:/blocks/0/has_header_divider]",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("blocks", "complaint"), WRONG_BLOCKS)
async def test_invalid_blocks_are_refused_with_a_pointer(blocks: Any, complaint: str) -> None:
    async with workspace() as (slack, client, _):
        said = await refusal(client.chat_postMessage(channel="C1", text="t", blocks=blocks))
        assert said["error"] == "invalid_blocks"
        assert f"[ERROR] {complaint}" in said["response_metadata"]["messages"]
        assert slack.cards("C1") == []


async def test_every_kind_of_block_a_card_uses_is_accepted() -> None:
    rich = {"type": "rich_text_section", "elements": [{"type": "text", "text": "x"}]}
    confirm = {"title": plain("t"), "text": plain("x"), "confirm": plain("y"), "deny": plain("n")}
    blocks = [
        {"type": "header", "text": plain("x" * 150)},
        {"type": "context", "elements": [{"type": "mrkdwn", "text": "x"}]},
        section("x" * 3000),
        actions(button(style="primary", confirm=confirm), overflow(5)),
        {"type": "divider"},
        {"type": "rich_text", "elements": [rich]},
        {"type": "markdown", "text": "# x"},
        {"type": "container", "title": plain("t"), "child_blocks": [section("x")]},
    ]
    async with workspace() as (slack, client, _):
        await client.chat_postMessage(channel="C1", text="t", blocks=blocks)
        assert slack.cards("C1")[0].blocks == blocks


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
