"""The Messages double, through Anthropic's own client."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import anthropic
import httpx
import httpx2
import pytest
from anthropic import AsyncAnthropic

from bot.drill.doubles.anthropic import MessagesDouble
from bot.drill.doubles.anthropic_replies import (
    ERRORS,
    GATEWAY,
    Answerer,
    Broken,
    Late,
    Message,
    as_json,
    calls,
    in_order,
    only_thinks,
    text,
    thought,
)
from bot.drill.doubles.faults import Hang, ReplyLost
from bot.drill.doubles.prompt_cache import PromptCache
from bot.drill.doubles.serve import serve

START = datetime(2026, 11, 30, 19, 0, tzinfo=UTC)
MODEL = "claude-haiku-4-5"
ASK = {"role": "user", "content": "why is checkout slow?"}
TOOL = {"name": "metrics", "description": "PromQL", "input_schema": {"type": "object"}}
MARK = {"type": "ephemeral"}


class Wall:
    def __init__(self) -> None:
        self.at = START

    def __call__(self) -> datetime:
        return self.at


@asynccontextmanager
async def model(
    answer: Answerer | None = None, timeout_s: float = 5, **more: Any
) -> AsyncIterator[tuple[MessagesDouble, AsyncAnthropic, Wall]]:
    wall = Wall()
    double = MessagesDouble(wall, answer or in_order(text("a deploy")), **more)
    async with (
        serve(double.app) as url,
        AsyncAnthropic(
            api_key=double.key,
            base_url=url,
            max_retries=0,
            http_client=anthropic.DefaultAsyncHttpxClient(verify=False, timeout=timeout_s),
        ) as client,
    ):
        yield double, client, wall


async def say(client: AsyncAnthropic, **more: Any) -> anthropic.types.Message:
    given = {"model": MODEL, "max_tokens": 100, "messages": [ASK], **more}
    return await client.messages.create(**given)


async def streamed(client: AsyncAnthropic) -> anthropic.types.Message:
    async with client.messages.stream(model=MODEL, max_tokens=9, messages=[ASK]) as stream:
        return await stream.get_final_message()


async def test_an_answer_has_text_usage_and_a_request_id() -> None:
    async with model() as (double, client, _):
        said = await say(client)
        assert [block.text for block in said.content if block.type == "text"] == ["a deploy"]
        assert said.stop_reason == "end_turn"
        assert said.usage.input_tokens > 5
        assert said.usage.output_tokens > 1
        assert said._request_id == f"req_{said.id}"
        assert double.accepted[0].body["messages"] == [ASK]


async def test_the_answer_follows_from_the_request() -> None:
    def answer(body: dict[str, Any]) -> Message:
        return as_json({"turns": len(body["messages"])})

    async with model(answer) as (_, client, _wall):
        said = await say(client)
        assert said.content[0].type == "text"
        assert said.content[0].text == '{"turns":1}'


async def test_a_loop_of_tool_calls_runs() -> None:
    asked = calls(("metrics", {"q": "up"}), ("metrics", {"q": "down"}), said="look")
    async with model(in_order(asked, text("done"))) as (_, client, _wall):
        first = await say(client, tools=[TOOL])
        assert first.stop_reason == "tool_use"
        assert [block.type for block in first.content] == ["text", "tool_use", "tool_use"]
        content = [block.model_dump(exclude_none=True) for block in first.content]
        results = [
            {"type": "tool_result", "tool_use_id": block.id, "content": "1"}
            for block in first.content
            if block.type == "tool_use"
        ]
        turns = [
            ASK,
            {"role": "assistant", "content": content},
            {"role": "user", "content": results},
        ]
        last = await say(client, tools=[TOOL], messages=turns)
        assert last.stop_reason == "end_turn"


async def test_thoughts_come_back_only_unchanged() -> None:
    async with model(in_order(only_thinks("hm"), text("x"))) as (_, client, _wall):
        first = await say(client, thinking={"type": "adaptive"})
        assert [block.type for block in first.content] == ["thinking"]
        back = {"role": "assistant", "content": [thought("hm"), {"type": "text", "text": "y"}]}
        await say(client, messages=[ASK, back, ASK])
        back["content"][0]["thinking"] = "other"  # type: ignore[index]
        with pytest.raises(anthropic.BadRequestError, match="Invalid `signature`"):
            await say(client, messages=[ASK, back, ASK])


async def test_a_stream_builds_the_same_message() -> None:
    reply = Message(
        (thought("let me look"), *calls(("metrics", {"q": "up"}), said="look " * 20).content)
    )
    async with model(in_order(reply)) as (_, client, _wall):
        whole = await say(client)
        told = await streamed(client)
        assert [b.model_dump() for b in told.content] == [b.model_dump() for b in whole.content]
        assert told.usage.output_tokens == whole.usage.output_tokens


SCHEMA = {
    "type": "object",
    "properties": {"cause": {"type": "string"}},
    "required": ["cause"],
    "additionalProperties": False,
}


def user(*blocks: dict[str, Any]) -> dict[str, Any]:
    return {"role": "user", "content": list(blocks)}


def bot(*blocks: dict[str, Any]) -> dict[str, Any]:
    return {"role": "assistant", "content": list(blocks)}


def said(words: str, **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": words, **more}


def fmt(schema: dict[str, Any]) -> dict[str, Any]:
    return {"format": {"type": "json_schema", "schema": schema}}


async def test_a_refusal_reaches_the_client_and_no_model() -> None:
    async with model() as (double, client, _):
        with pytest.raises(anthropic.BadRequestError) as caught:
            await say(client, extra_body={"seed": 7})
        assert caught.value.type == "invalid_request_error"
        assert caught.value.api_message == "seed: Extra inputs are not permitted"
        assert double.accepted == []


async def test_what_the_product_sends_is_accepted() -> None:
    async with model() as (double, client, _):
        await say(
            client,
            system=[said("you are", cache_control={"type": "ephemeral", "ttl": "1h"})],
            tools=[TOOL],
            tool_choice={"type": "auto"},
            thinking={"type": "adaptive"},
            output_config={"effort": "low", **fmt(SCHEMA)},
            messages=[user(said("pack", cache_control=MARK), said("now"))],
        )
        assert len(double.accepted) == 1


LONG = "evidence " * 1000


def cached(*turns: str, **more: Any) -> dict[str, Any]:
    pack = said(LONG, cache_control=MARK)
    return {"messages": [user(pack, *[said(turn) for turn in turns])], **more}


def spent(message: anthropic.types.Message) -> tuple[bool, bool]:
    usage = message.usage
    return bool(usage.cache_creation_input_tokens), bool(usage.cache_read_input_tokens)


async def test_the_second_call_reads_the_prefix_the_first_one_wrote() -> None:
    async with model() as (_, client, _wall):
        first, second = (
            await say(client, **cached("draft")),
            await say(client, **cached("judge it")),
        )
        assert (spent(first), spent(second)) == ((True, False), (False, True))
        assert second.usage.cache_read_input_tokens == first.usage.cache_creation_input_tokens
        assert second.usage.input_tokens < 20


CHANGES: list[dict[str, Any]] = [
    {"model": "claude-sonnet-5-5"},
    {"system": "other"},
    {"tools": [TOOL]},
    {"tool_choice": {"type": "none"}},
    {"thinking": {"type": "adaptive"}},
    {"output_config": {"effort": "high"}},
    {"output_config": fmt(SCHEMA)},
    {"messages": [user(said("other" * 4000, cache_control=MARK))]},
]


@pytest.mark.parametrize("change", CHANGES)
def test_anything_that_differs_misses_the_cache(change: Any) -> None:
    cache = PromptCache(Wall())
    ask = {"model": MODEL, **cached("draft")}
    written = cache.charge(ask).written_5m
    assert written > 2000
    assert cache.charge(ask | change).read == 0
    assert cache.charge(ask).read == written


async def test_a_short_prefix_and_an_old_one_are_not_read() -> None:
    async with model() as (double, client, wall):
        short = {"messages": [user(said("x", cache_control=MARK))]}
        assert spent(await say(client, **short)) == (False, False)
        await say(client, **cached("draft"))
        wall.at += timedelta(minutes=4)
        assert spent(await say(client, **cached("draft"))) == (False, True)
        wall.at += timedelta(minutes=5)
        assert spent(await say(client, **cached("draft"))) == (True, False)
        double.cache.minimum_of[MODEL] = 100_000
        wall.at += timedelta(minutes=5)
        assert spent(await say(client, **cached("draft"))) == (False, False)


@pytest.mark.parametrize(("blocks", "found"), [(0, True), (18, True), (19, False)])
def test_an_older_prefix_is_looked_for_twenty_blocks_back(blocks: int, found: bool) -> None:
    cache = PromptCache(Wall())
    pack, end = said(LONG, cache_control=MARK), said("end", cache_control=MARK)
    cache.charge({"model": MODEL, "messages": [user(pack)]})
    bare = said(LONG)
    later = [bare, *[said("step")] * blocks, end]
    assert (cache.charge({"model": MODEL, "messages": [user(*later)]}).read > 0) == found


async def test_a_longer_conversation_reads_what_was_written_and_writes_the_rest() -> None:
    async with model() as (double, client, _):
        await say(client, cache_control=MARK, **cached("draft"))
        turns = [*cached("draft")["messages"], bot(said(LONG)), user(said("judge it"))]
        await say(client, cache_control=MARK, messages=turns)
        first, second = (asked.charge for asked in double.accepted)
        assert first is not None
        assert second is not None
        assert second.read == first.written_5m
        assert second.written_5m > 2000
        assert (first.plain, second.plain) == (0, 0)


async def test_every_error_of_the_api_reaches_the_client_as_itself() -> None:
    async with model(in_order(*ERRORS.values())) as (double, client, _):
        for error in ERRORS.values():
            with pytest.raises(anthropic.APIStatusError) as caught:
                await say(client)
            assert caught.value.status_code == error.status
            assert (caught.value.type, caught.value.error_code) == (error.type, error.error_code)
        assert [asked.charge for asked in double.accepted] == [None] * len(ERRORS)


async def test_what_gateways_answer_reaches_the_client() -> None:
    answers = [answer for answer in GATEWAY.values() if answer.status != 200]
    async with model(in_order(*answers)) as (_, client, _wall):
        for answer in answers:
            with pytest.raises(anthropic.APIStatusError) as caught:
                await say(client)
            assert caught.value.status_code == answer.status


async def test_a_page_with_200_is_no_message() -> None:
    async with model(in_order(GATEWAY["sign_in_page"])) as (_, client, _wall):
        assert not isinstance(await say(client), anthropic.types.Message)


@pytest.mark.parametrize("reply", [ReplyLost(), ReplyLost(accepted=False)])
async def test_a_lost_reply_is_a_connection_error_and_charged_if_it_ran(reply: ReplyLost) -> None:
    async with model(in_order(reply)) as (double, client, _):
        with pytest.raises(anthropic.APIConnectionError):
            await say(client)
        assert (double.accepted[0].charge is not None) == reply.accepted


async def test_late_answers_arrive_and_silence_times_out() -> None:
    answer = in_order(Late(0.05, text("x")), Hang())
    async with model(answer, timeout_s=0.3) as (_, client, _wall):
        assert (await say(client)).stop_reason == "end_turn"
        with pytest.raises(anthropic.APITimeoutError):
            await say(client)


async def test_a_stream_that_just_ends_has_no_stop_reason() -> None:
    async with model(in_order(Broken(text("half of it")))) as (_, client, _wall):
        assert (await streamed(client)).stop_reason is None


@pytest.mark.parametrize("stream", [True, False])
async def test_a_cut_connection_is_no_answer(stream: bool) -> None:
    async with model(in_order(Broken(text("half of it"), aborts=True))) as (_, client, _wall):
        with pytest.raises((anthropic.APIConnectionError, httpx2.TransportError)):
            await (streamed(client) if stream else say(client))


async def test_an_error_inside_a_stream_is_raised() -> None:
    reply = Broken(text("half of it"), error=ERRORS["overloaded"])
    async with model(in_order(reply)) as (_, client, _wall):
        with pytest.raises(anthropic.APIStatusError) as caught:
            await streamed(client)
        assert caught.value.type == "overloaded_error"


ENDINGS: list[tuple[tuple[dict[str, Any], ...], str | None]] = [
    ((), "refusal"),
    ((), "end_turn"),
    ((said("x"),), "tool_use"),
    ((said('{"a'),), "max_tokens"),
    ((said("x"),), "pause_turn"),
    ((said("x"),), "model_context_window_exceeded"),
    ((said("x"),), None),
]


async def test_any_ending_can_be_told() -> None:
    replies = [Message(content, stop) for content, stop in ENDINGS]
    async with model(in_order(*replies)) as (_, client, _wall):
        told = [(await say(client)).stop_reason for _ in replies]
    assert told == [stop for _, stop in ENDINGS]


async def test_keys_models_counts_and_long_prompts() -> None:
    async with model(context_tokens=2000) as (double, client, _):
        assert [m.id async for m in client.models.list()] == list(double.models)
        counted = await client.messages.count_tokens(model=MODEL, messages=[ASK])
        assert counted.input_tokens == (await say(client)).usage.input_tokens
        with pytest.raises(anthropic.NotFoundError, match="model: claude-nobody-1"):
            await say(client, model="claude-nobody-1")
        with pytest.raises(anthropic.NotFoundError):
            await client.models.retrieve("claude-nobody-1")
        with pytest.raises(anthropic.BadRequestError, match="prompt is too long"):
            await say(client, messages=[{"role": "user", "content": LONG}])
        with pytest.raises(anthropic.AuthenticationError, match="invalid x-api-key"):
            await say(client.with_options(api_key="sk-other"))
        async with httpx.AsyncClient(verify=False) as plain:
            assert (await plain.head(str(client.base_url))).status_code == 200
            bare = await plain.post(f"{str(client.base_url).rstrip('/')}/v1/messages", json={})
            assert bare.json()["error"]["message"] == "x-api-key header is required"
