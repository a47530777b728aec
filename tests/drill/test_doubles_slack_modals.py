"""What the Slack double refuses of modals, sockets, whispers and answers by address."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import aiohttp
import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.drill.doubles.slack import SlackDouble

START = datetime(2026, 11, 30, 19, 0, tzinfo=UTC)


class Wall:
    at = START

    def __call__(self) -> datetime:
        return self.at


@asynccontextmanager
async def workspace() -> AsyncIterator[tuple[SlackDouble, AsyncWebClient, Wall]]:
    wall = Wall()
    slack = SlackDouble(wall)
    slack.channel("C1")
    slack.person("U1", "alice")
    async with slack.serving() as url:
        client = AsyncWebClient(slack.token, base_url=f"{url}/api/", timeout=1, retry_handlers=[])
        yield slack, client, wall


async def refusal(call: Any) -> Any:
    with pytest.raises(SlackApiError) as caught:
        await call
    return caught.value.response.data


def modal(title: str = "Wrong cause", **more: Any) -> dict[str, Any]:
    return {"type": "modal", "title": {"type": "plain_text", "text": title}, "blocks": [], **more}


ASKED = {
    "type": "input",
    "block_id": "fix",
    "label": {"type": "plain_text", "text": "What fixed it"},
    "element": {"type": "plain_text_input", "action_id": "fix"},
}


async def test_a_trigger_opens_one_modal_within_three_seconds() -> None:
    async with workspace() as (slack, client, wall):
        used, late = (slack.space.modals.trigger("U1", wall.at) for _ in range(2))
        wall.at += timedelta(seconds=3)
        await client.views_open(trigger_id=used, view=modal())
        again = await refusal(client.views_open(trigger_id=used, view=modal()))
        wall.at += timedelta(seconds=1)
        expired = await refusal(client.views_open(trigger_id=late, view=modal()))
        unknown = await refusal(client.views_open(trigger_id="1.2", view=modal()))
        assert [one["error"] for one in (again, expired, unknown)] == [
            "exchanged_trigger_id",
            "expired_trigger_id",
            "invalid_trigger_id",
        ]


@pytest.mark.parametrize(
    ("view", "pointer"),
    [
        (modal("x" * 25), "/view/title/text"),
        (modal(blocks=[ASKED]), "/view/submit"),
        (modal(private_metadata="x" * 3001), "/view/private_metadata"),
        (modal(blocks=[{"type": "divider", "block_id": "b"}] * 2), "/view/blocks"),
        (modal(colour="red"), "/view"),
    ],
    ids=["title", "no submit", "metadata", "names", "unknown key"],
)
async def test_a_modal_slack_would_refuse_is_refused_and_uses_nothing_up(
    view: dict[str, Any], pointer: str
) -> None:
    async with workspace() as (slack, client, wall):
        trigger = slack.space.modals.trigger("U1", wall.at)
        said = await refusal(client.views_open(trigger_id=trigger, view=view))
        assert said["error"] == "invalid_arguments"
        assert f"[json-pointer:{pointer}]" in said["response_metadata"]["messages"][0]
        await client.views_open(trigger_id=trigger, view=modal())


async def test_a_modal_changes_by_its_newest_hash_until_it_is_closed() -> None:
    async with workspace() as (slack, client, wall):
        trigger = slack.space.modals.trigger("U1", wall.at)
        first = (await client.views_open(trigger_id=trigger, view=modal()))["view"]
        change = {"view_id": first["id"], "view": modal("Second")}
        await client.views_update(hash=first["hash"], **change)
        old = await refusal(client.views_update(hash=first["hash"], **change))
        slack.people.closes(first["id"])
        gone = await refusal(client.views_update(**change))
        assert (old["error"], gone["error"]) == ("hash_conflict", "not_found")


async def test_a_socket_needs_the_apps_own_token_and_its_address_works_once() -> None:
    async with workspace() as (slack, client, _):
        wrong = await refusal(client.apps_connections_open(app_token=slack.token))
        assert wrong["error"] == "not_allowed_token_type"
        url = (await client.apps_connections_open(app_token=slack.app_token))["url"]
        async with aiohttp.ClientSession() as session:
            async with session.ws_connect(url) as socket:
                assert (await socket.receive_json())["type"] == "hello"
            with pytest.raises(aiohttp.WSServerHandshakeError):
                await session.ws_connect(url)


async def test_a_whisper_in_a_thread_without_replies_is_seen_by_nobody() -> None:
    async with workspace() as (slack, client, _):
        root = (await client.chat_postMessage(channel="C1", text="card"))["ts"]
        told = {"channel": "C1", "user": "U1", "thread_ts": root}
        await client.chat_postEphemeral(text="lost", **told)
        await client.chat_postMessage(channel="C1", text="evidence", thread_ts=root)
        await client.chat_postEphemeral(text="seen", **told)
        assert slack.whispers("U1") == ["seen"]


async def test_what_a_person_did_is_answered_five_times_by_its_address() -> None:
    async with workspace() as (slack, _, _wall):
        with pytest.raises(ConnectionError):
            await slack.people.commands("C1", "/caveat", "a < b", "U1")
        (name,) = slack.space.answerable
        url = f"{slack.people.respond_at}/{name}"
        async with aiohttp.ClientSession() as session:
            said = []
            for n in range(6):
                async with session.post(url, json={"text": f"{n}"}) as answer:
                    said.append(answer.status)
        assert said == [200, 200, 200, 200, 200, 404]
        assert slack.whispers("U1") == ["0", "1", "2", "3", "4"]


async def test_members_come_a_page_at_a_time() -> None:
    async with workspace() as (slack, client, _):
        slack.space.channels["C1"].members |= {f"U{n:04d}" for n in range(1500)}
        first = await client.conversations_members(channel="C1", limit=1000)
        cursor = first["response_metadata"]["next_cursor"]
        rest = await client.conversations_members(channel="C1", limit=1000, cursor=cursor)
        assert (len(first["members"]), len(rest["members"])) == (1000, 502)
        assert rest["response_metadata"]["next_cursor"] == ""
