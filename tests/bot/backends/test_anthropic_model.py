"""The Messages adapter against the Messages double, over loopback."""

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx2
import pytest
from anthropic import DefaultAsyncHttpxClient

from bot.backends.anthropic import AnthropicModel, body_of, connect
from bot.backends.llm_errors import classify
from bot.backends.prices import cost_usd
from bot.drill.doubles.anthropic import MessagesDouble
from bot.drill.doubles.anthropic_replies import (
    ERRORS,
    Broken,
    Late,
    Message,
    Reply,
    as_json,
    calls,
    in_order,
    only_thinks,
    text,
)
from bot.drill.doubles.faults import Hang, ReplyLost
from bot.drill.doubles.serve import serve
from engine.errors import (
    EngineError,
    OperatorActionRequiredError,
    TerminalError,
    TimedOutError,
    TransientError,
    UnknownModelError,
    UnusableReplyError,
)
from engine.failures import failure_class
from engine.investigation.conclude import Setting, judging, opening
from engine.model.llm import Capabilities, ModelRequest, StopReason
from engine.model.pack import Item, TextFacts
from engine.model.policy import TriageRule, VerificationRule
from engine.model.run import Usage
from engine.redact import Redactor
from tests.engine.judged import ALERT, DEPLOY, FENCE, OWN, POOL, drafted, pack, ruled

RULE = TriageRule()
OFF = TriageRule(verification=VerificationRule(enabled=False))
SETTING = Setting(fence=FENCE, model="claude-sonnet-5-5", metrics=True)
LOGS = tuple(
    Item(id=f"M{n}", text="a line of evidence " * 20, facts=TextFacts()) for n in range(9, 40)
)


def request(rule: TriageRule = RULE) -> ModelRequest:
    return opening(pack(ALERT, OWN, POOL, DEPLOY, *LOGS), SETTING, rule)


@asynccontextmanager
async def double(
    answer: Callable[[Any], Reply], able: Capabilities | None = None
) -> AsyncIterator[tuple[MessagesDouble, AnthropicModel]]:
    messages = MessagesDouble(lambda: datetime.now(UTC), answer)
    async with serve(messages.app) as url:
        client = connect(key="sk-rehearsal", base_url=url)
        yield messages, AnthropicModel(client, able or Capabilities())
        await client.close()


@pytest.mark.proves("S0-33", "S0-70", "S0-72")
async def test_call_2_reads_from_the_cache_what_call_1_wrote() -> None:
    replies = in_order(text(drafted()), text(ruled()))
    async with double(replies) as (messages, model):
        first = request()
        draft = await model.complete(first, 5)
        second = await model.complete(judging(first, draft.text, [], SETTING, RULE), 5)
    assert len(messages.accepted) == 2
    assert draft.usage.cache_creation_input_tokens > 1024
    assert draft.usage.cache_read_input_tokens == 0
    assert second.usage.cache_read_input_tokens == draft.usage.cache_creation_input_tokens
    assert second.usage.effective_input == pytest.approx(
        second.usage.input_tokens
        + 1.25 * second.usage.cache_creation_input_tokens
        + 0.10 * second.usage.cache_read_input_tokens
    )
    assert draft.request_id.startswith("req_")


@pytest.mark.proves("S0-76", "S0-92")
async def test_with_verification_off_nothing_is_marked_or_cached() -> None:
    async with double(lambda _: text(drafted())) as (messages, model):
        reply = await model.complete(request(OFF), 5)
    assert "cache_control" not in json.dumps(messages.accepted[0].body)
    assert reply.usage.cache_creation_input_tokens == 0


@pytest.mark.proves("S0-73")
async def test_a_short_prompt_is_not_cached_and_costs_no_more_for_its_marks() -> None:
    async with double(lambda _: text(drafted())) as (messages, model):
        messages.cache.minimum = 1_000_000
        reply = await model.complete(request(), 5)
    assert reply.usage.cache_creation_input_tokens == 0
    assert reply.usage.input_tokens > 1024


async def test_without_structured_output_the_schema_goes_through_a_tool() -> None:
    said = {"draft": {"root_cause": None}}
    able = Capabilities(structured_output=False, prompt_cache=False)
    async with double(lambda _: calls(("conclude", said), said="Well:"), able) as (messages, model):
        reply = await model.complete(request(), 5)
    body = messages.accepted[0].body
    assert json.loads(reply.text) == said
    assert "output_config" not in body
    assert body["tools"][0]["input_schema"] == request().reply_schema
    assert body["tool_choice"] == {"type": "auto"}
    assert "cache_control" not in json.dumps(body)


def test_both_calls_say_the_same_but_for_what_stands_at_the_end() -> None:
    first = request()
    second = judging(first, "{}", [], SETTING, RULE)
    one, two = (body_of(r, Capabilities(), {"type": "disabled"}) for r in (first, second))
    assert two["messages"][:1] == one["messages"]
    for name in one.keys() - {"messages", "max_tokens"}:
        assert one[name] == two[name]


@pytest.mark.proves("S3-115", "S3-111", "S3-112")
@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("credit_balance", OperatorActionRequiredError),
        ("usage_limit", OperatorActionRequiredError),
        ("billing", OperatorActionRequiredError),
        ("spend_limit", OperatorActionRequiredError),
        ("contract_limit", OperatorActionRequiredError),
        ("linked_organization", OperatorActionRequiredError),
        ("on_hold", TerminalError),
        ("key", TerminalError),
        ("permission", TerminalError),
        ("unknown_model", UnknownModelError),
        ("too_large", TerminalError),
        ("too_long", TerminalError),
    ],
)
async def test_an_error_is_one_upstream_call_and_one_class(
    name: str, kind: type[EngineError]
) -> None:
    async with double(lambda _: ERRORS[name]) as (messages, model):
        with pytest.raises(kind):
            await model.complete(request(), 5)
    assert len(messages.asked) == 1


@pytest.mark.parametrize("name", sorted(ERRORS))
async def test_every_error_the_double_knows_is_one_of_ours(name: str) -> None:
    async with double(lambda _: ERRORS[name]) as (_messages, model):
        with pytest.raises(EngineError):
            await model.complete(request(), 5)


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (Late(5, text("{}")), TimedOutError),
        (Hang(), TimedOutError),
        (Broken(text(drafted())), TransientError),
        (ReplyLost(), TransientError),
        (Message(({"type": "text", "text": "x"},), None), UnusableReplyError),
    ],
)
async def test_every_accident_of_the_wire_is_an_error_of_ours(
    reply: Reply, kind: type[EngineError]
) -> None:
    async with double(lambda _: reply) as (_messages, model):
        with pytest.raises(kind):
            await model.complete(request(), 0.5)


@pytest.mark.parametrize(
    ("reply", "stop", "said"),
    [
        (text("{}"), StopReason.END_TURN, "{}"),
        (text("{", "max_tokens"), StopReason.MAX_TOKENS, "{"),
        (Message((), "refusal"), StopReason.REFUSAL, ""),
        (only_thinks(), StopReason.END_TURN, ""),
        (as_json({"draft": 1}), StopReason.END_TURN, '{"draft":1}'),
    ],
)
async def test_a_reply_says_how_it_ended(reply: Reply, stop: StopReason, said: str) -> None:
    async with double(lambda _: reply) as (_messages, model):
        found = await model.complete(request(), 5)
    assert (found.stop_reason, found.text) == (stop, said)


@pytest.mark.parametrize(
    "answer",
    [
        httpx2.Response(200, text="<html>sign in</html>", headers={"content-type": "text/html"}),
        httpx2.Response(200, json=["not", "a", "message"]),
        httpx2.Response(200, text='"a bare string"', headers={"content-type": "application/json"}),
        httpx2.Response(200, text="{", headers={"content-type": "application/json"}),
        httpx2.Response(200, json={"type": "message", "stop_reason": "end_turn"}),
        httpx2.Response(502, text="<html>bad gateway</html>"),
        httpx2.Response(302, headers={"location": "http://elsewhere.example/"}),
    ],
)
async def test_what_is_no_message_is_transient(answer: httpx2.Response) -> None:
    transport = httpx2.MockTransport(lambda _: answer)
    client = connect(
        key="k",
        base_url="http://127.0.0.1:9",
        http_client=DefaultAsyncHttpxClient(transport=transport),
    )
    with pytest.raises((TransientError, UnusableReplyError)):
        await AnthropicModel(client).complete(request(), 2)


async def test_a_secret_in_a_providers_error_is_masked_before_anybody_reads_it() -> None:
    key = "the-key-of-this-install"
    said = {"error": {"type": "invalid_request_error", "message": f"no access with {key}"}}
    refuse = httpx2.MockTransport(lambda _: httpx2.Response(400, json=said))
    async with DefaultAsyncHttpxClient(transport=refuse) as http:
        client = connect(key=key, base_url="http://127.0.0.1:1").with_options(http_client=http)
        model = AnthropicModel(client, Capabilities(), redact=Redactor((key,)).text)
        with pytest.raises(EngineError) as caught:
            await model.complete(request(), timeout_s=5)
    assert "no access with" in str(caught.value)
    assert key not in str(caught.value)
    assert key not in caught.value.detail


def test_a_hint_is_the_longest_of_those_given() -> None:
    body = {"error": {"type": "rate_limit_error", "message": "try again in 40 s"}}
    error = classify(429, body, {"Retry-After": "17", "retry-after-ms": "500"}, "")
    assert error.retry_after_s == 40
    assert classify(429, {}, {"retry-after": "Wed, 21 Oct"}, "").retry_after_s is None


@pytest.mark.parametrize(
    "words",
    ["messages.0.content: Your credit balance is too low", "Your credit balance is too low"],
)
def test_words_of_ours_that_come_back_decide_no_class(words: str) -> None:
    body = {"error": {"type": "invalid_request_error", "message": words}}
    sent = "log line: Your credit balance is too low"
    assert isinstance(classify(400, body, {}, sent), TerminalError)
    if not words.startswith("messages"):
        assert isinstance(classify(400, body, {}, ""), OperatorActionRequiredError)


@pytest.mark.corpus
def test_every_labelled_http_error_lands_in_its_class(shared: Path) -> None:
    lines = (shared / "data/llm_errors.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [row for row in map(json.loads, lines) if row["kind"] == "http"]
    wrong = [
        row["id"]
        for row in rows
        if failure_class(classify(row["status"], row["body"], row["headers"], "")).value
        != row["expected_class"]
    ]
    assert (len(rows) > 60, wrong) == (True, [])


@pytest.mark.proves("S0-72")
@pytest.mark.parametrize(
    ("model", "cost"),
    [
        ("claude-sonnet-5-5", 3.0 + 3.75 + 0.3 + 15.0),
        ("anthropic/claude-haiku-4-5", 1.0 + 1.25 + 0.1 + 5.0),
        ("somebody-elses", None),
    ],
)
def test_a_call_costs_what_its_tokens_cost(model: str, cost: float | None) -> None:
    million = 1_000_000
    usage = Usage(
        input_tokens=million,
        output_tokens=million,
        cache_creation_input_tokens=million,
        cache_read_input_tokens=million,
    )
    found = cost_usd(model, usage)
    assert found is None if cost is None else found == pytest.approx(cost)
