"""Which requests the Messages double refuses."""

from typing import Any

import pytest

from bot.drill.doubles.anthropic_request import complaint, complaints
from bot.drill.doubles.conversations import Conversations

MODEL = "claude-haiku-4-5"
ASK = {"role": "user", "content": "why is checkout slow?"}
TOOL = {"name": "metrics", "description": "PromQL", "input_schema": {"type": "object"}}
MARK = {"type": "ephemeral"}
SCHEMA = {
    "type": "object",
    "properties": {"cause": {"type": "string"}},
    "required": ["cause"],
    "additionalProperties": False,
}
CALL = {"type": "tool_use", "id": "t1", "name": "metrics", "input": {}}
RESULT = {"type": "tool_result", "tool_use_id": "t1", "content": "x"}


def user(*blocks: dict[str, Any]) -> dict[str, Any]:
    return {"role": "user", "content": list(blocks)}


def bot(*blocks: dict[str, Any]) -> dict[str, Any]:
    return {"role": "assistant", "content": list(blocks)}


def said(words: str, **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": words, **more}


def fmt(schema: dict[str, Any]) -> dict[str, Any]:
    return {"format": {"type": "json_schema", "schema": schema}}


WRONG = [
    ({"temperature": 0}, "`temperature` is deprecated for this model."),
    ({"seed": 7}, "seed: Extra inputs are not permitted"),
    ({"max_tokens": None}, "max_tokens: Input should be a valid integer"),
    ({"max_tokens": 0}, "max_tokens: must be greater than or equal to 1"),
    ({"messages": []}, "messages: at least one message is required"),
    ({"messages": [ASK, ASK]}, 'found multiple "user" roles in a row'),
    ({"messages": [ASK, bot(said("{"))]}, "does not support assistant message prefill"),
    ({"messages": [bot(said("x")), ASK]}, 'first message must use the "user" role'),
    ({"messages": [user(said(""))]}, "messages: text content blocks must be non-empty"),
    ({"messages": [user(said(" "))]}, "must contain non-whitespace text"),
    ({"messages": [user()]}, "messages.0: all messages must have non-empty content"),
    ({"messages": [user({"type": "video"})]}, "messages.0.content.0: Input tag 'video' found"),
    ({"messages": [user(said("x", colour=1))]}, "colour: Extra inputs are not permitted"),
    ({"messages": [user(RESULT)]}, "unexpected `tool_use_id` found in `tool_result` blocks: t1"),
    ({"messages": [ASK, bot(CALL), ASK]}, "messages.1: `tool_use` ids were found without"),
    (
        {"messages": [user(*[said("x", cache_control=MARK)] * 5)]},
        "A maximum of 4 blocks with cache_control may be provided. Found 5.",
    ),
    (
        {"messages": [user(said("x", cache_control={"type": "ephemeral", "ttl": "2h"}))]},
        "cache_control.ephemeral.ttl: Input should be '5m' or '1h'",
    ),
    (
        {
            "system": [said("s", cache_control=MARK)],
            "messages": [user(said("x", cache_control={"type": "ephemeral", "ttl": "1h"}))],
        },
        "a ttl='1h' cache_control block must not come after",
    ),
    ({"system": [said("")]}, "system: text content blocks must be non-empty"),
    ({"tools": [TOOL, TOOL]}, "tools: Tool names must be unique."),
    ({"tools": [TOOL | {"name": "a b"}]}, "tools.0.custom.name: String should match pattern"),
    ({"tools": [TOOL | {"input_schema": {}}]}, "tools.0.custom.input_schema.type"),
    ({"thinking": {"type": "enabled", "budget_tokens": 100}}, "greater than or equal to 1024"),
    (
        {"thinking": {"type": "enabled", "budget_tokens": 2000}},
        "`max_tokens` must be greater than `thinking.budget_tokens`",
    ),
    (
        {"thinking": {"type": "adaptive"}, "tools": [TOOL], "tool_choice": {"type": "any"}},
        "Thinking may not be enabled when tool_choice forces tool use.",
    ),
    ({"output_config": {"effort": "huge"}}, "output_config.effort: Input should be 'low'"),
    ({"output_config": {"shape": 1}}, "output_config.shape: Extra inputs are not permitted"),
    ({"output_config": {"format": {"type": "xml"}}}, "Input should be 'json_schema'"),
    (
        {"output_config": fmt({"type": "object", "properties": {}})},
        "'additionalProperties' must be explicitly set to false",
    ),
    (
        {"output_config": fmt(SCHEMA | {"properties": {"n": {"type": "integer", "minimum": 1}}})},
        "For 'integer' type, properties minimum are not supported",
    ),
]


@pytest.mark.parametrize(("given", "reason"), WRONG)
def test_a_wrong_request_is_refused_with_the_reason(given: Any, reason: str) -> None:
    body = {"model": MODEL, "max_tokens": 100, "messages": [ASK], **given}
    assert reason in str(complaint(body))


def used(id_: str, **more: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": id_, "name": "look", "input": {}, **more}


def result(id_: str, **more: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": id_, "content": "x", **more}


TURNS = [
    ([used("a")], [said("no result")], "without `tool_result` blocks"),
    ([used("a"), used("b")], [result("b"), result("a")], "not in the order"),
    ([used("a")], [said("first"), result("a")], "must come before any other content"),
    ([used("a")], [result("a"), result("a")], "must have a single result"),
    ([used("a"), used("a")], [result("a")], "ids must be unique"),
    ([used("a b")], [result("a b")], "tool_use.id: String should match"),
    ([used("a", name="")], [result("a")], "tool_use.name: String should match"),
    ([used("a", input="x")], [result("a")], "tool_use.input: Input should be a valid dictionary"),
    ([used("a", text="x")], [result("a")], "tool_use.text: Extra inputs"),
    ([used("a")], [result("a", text="x")], "tool_result.text: Extra inputs"),
]


@pytest.mark.parametrize(("calls", "results", "reason"), TURNS)
def test_a_turn_of_tools_is_taken_only_whole_and_in_order(
    calls: Any, results: Any, reason: str
) -> None:
    turns = [ASK, {"role": "assistant", "content": calls}, {"role": "user", "content": results}]
    body = {"model": MODEL, "max_tokens": 100, "messages": turns}
    assert any(reason in each for each in complaints(body))


def test_a_whole_turn_of_tools_is_taken() -> None:
    calls = [said("hm"), used("a"), used("b")]
    results = [result("a", is_error=True), result("b", cache_control=MARK), said("go on")]
    turns = [ASK, {"role": "assistant", "content": calls}, {"role": "user", "content": results}]
    assert complaint({"model": MODEL, "max_tokens": 100, "messages": turns}) is None


def test_what_shapes_the_prompt_may_not_change_within_a_conversation() -> None:
    seen = Conversations()
    first = {"messages": [ASK], "tools": [TOOL]}
    seen.heard(first)
    answered = {"role": "assistant", "content": "hm"}
    again = {"role": "user", "content": [said("and now?")]}
    longer = {"messages": [ASK, answered, again], "tools": [TOOL]}
    assert seen.complaint(longer) is None
    assert "changed within a conversation" in str(seen.complaint({**longer, "tools": []}))
    assert seen.complaint({"messages": [again], "tools": []}) is None
