"""Which requests the Messages API refuses, and in which words."""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from bot.drill.doubles.anthropic_replies import signature
from bot.drill.doubles.anthropic_schema import schema_complaints
from bot.drill.doubles.prompt_cache import LIVES, as_blocks

Json = dict[str, Any]

KNOWN = frozenset(
    [
        *("model", "max_tokens", "messages", "system", "tools", "tool_choice", "thinking"),
        *("output_config", "cache_control", "stop_sequences", "stream", "metadata"),
        *("service_tier", "container", "diagnostics", "inference_geo", "speed"),
    ]
)
SAMPLING = ("temperature", "top_p", "top_k")
BLOCKS = {
    "user": ("text", "image", "document", "search_result", "tool_result"),
    "assistant": ("text", "tool_use", "thinking", "redacted_thinking", "server_tool_use"),
}
MAX_MARKS = 4
MIN_THINKING = 1024
EFFORTS = ("low", "medium", "high", "xhigh", "max")
THINKING = ("adaptive", "enabled", "disabled", "between_tools")
TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")


def complaint(body: Json) -> str | None:
    """Say what is wrong with a request; None when nothing is."""
    return next(complaints(body), None)


def complaints(body: Json) -> Iterator[str]:
    """Go through everything that is wrong, in the order in which the API looks."""
    yield from _fields(body)
    if isinstance(body.get("messages"), list):
        yield from _messages(body["messages"])
        yield from _tool_pairs(body["messages"])
        yield from _marks(body)
    yield from _system(body.get("system") or [])
    yield from _tools(body.get("tools") or [])
    yield from _thinking(body)
    yield from _output(body.get("output_config") or {})


def _fields(body: Json) -> Iterator[str]:
    for name in SAMPLING:
        if name in body:
            yield f"`{name}` is deprecated for this model."
    for name in sorted(body.keys() - KNOWN):
        yield f"{name}: Extra inputs are not permitted"
    for name in ("model", "max_tokens", "messages"):
        if name not in body:
            yield f"{name}: Field required"
    if not isinstance(body.get("max_tokens", 1), int):
        yield "max_tokens: Input should be a valid integer"
    elif body.get("max_tokens", 1) < 1:
        yield "max_tokens: must be greater than or equal to 1"


def _messages(messages: list[Json]) -> Iterator[str]:
    if not messages:
        yield "messages: at least one message is required"
        return
    for index, message in enumerate(messages):
        yield from _message(f"messages.{index}", message)
    roles = [message.get("role") for message in messages]
    for before, after in pairwise(roles):
        if before == after:
            alternate = 'messages: roles must alternate between "user" and "assistant"'
            yield f'{alternate}, but found multiple "{after}" roles in a row'
    if roles[0] != "user":
        yield 'messages: first message must use the "user" role'
    if roles[-1] == "assistant":
        prefill = "This model does not support assistant message prefill."
        yield f"{prefill} The conversation must end with a user message."


def _message(where: str, message: Json) -> Iterator[str]:
    role, content = message.get("role"), message.get("content")
    for name in sorted(message.keys() - {"role", "content"}):
        yield f"{where}.{name}: Extra inputs are not permitted"
    if role not in BLOCKS:
        yield f"{where}.role: Input should be 'user' or 'assistant'"
    elif not content:
        exempt = "except for the optional final assistant message"
        yield f"{where}: all messages must have non-empty content {exempt}"
    else:
        for index, block in enumerate(as_blocks(content)):
            yield from _block(f"{where}.content.{index}", str(role), block)


def _block(where: str, role: str, block: Json) -> Iterator[str]:
    kind = block.get("type")
    if kind not in BLOCKS[role]:
        tags = ", ".join(f"'{each}'" for each in BLOCKS[role])
        reason = f"Input tag '{kind}' found using 'type' does not match any of the expected tags"
        yield f"{where}: {reason}: {tags}"
    if kind == "text":
        yield from _text("messages", block)
    if kind == "thinking" and block.get("signature") != signature(str(block.get("thinking"))):
        yield f"{where}: Invalid `signature` in `thinking` block"
    if kind in {"thinking", "redacted_thinking"} and "cache_control" in block:
        yield f"{where}.{kind}.cache_control: Extra inputs are not permitted"


def _text(where: str, block: Json) -> Iterator[str]:
    if not block.get("text"):
        yield f"{where}: text content blocks must be non-empty"
    elif not str(block["text"]).strip():
        yield f"{where}: text content blocks must contain non-whitespace text"
    for name in sorted(block.keys() - {"type", "text", "cache_control", "citations"}):
        yield f"{where}: {name}: Extra inputs are not permitted"


def _tool_pairs(messages: list[Json]) -> Iterator[str]:
    """Every tool call has its result in the next message, and every result its call."""
    called: list[str] = []
    for index, message in enumerate(messages):
        blocks = as_blocks(message.get("content") or [])
        given = [str(b.get("tool_use_id")) for b in blocks if b.get("type") == "tool_result"]
        if missing := [each for each in called if each not in given]:
            yield (
                f"messages.{index - 1}: `tool_use` ids were found without `tool_result` blocks"
                f" immediately after: {', '.join(missing)}. Each `tool_use` block must have a"
                " corresponding `tool_result` block in the next message."
            )
        for stray in (each for each in given if each not in called):
            yield (
                f"messages.{index}.content.0: unexpected `tool_use_id` found in `tool_result`"
                f" blocks: {stray}. Each `tool_result` block must have a corresponding `tool_use`"
                " block in the previous message."
            )
        yield from _in_order(f"messages.{index}", blocks, called, given)
        called = [str(b.get("id")) for b in blocks if b.get("type") == "tool_use"]
    yield from _used(messages)


def _in_order(where: str, blocks: list[Json], called: list[str], given: list[str]) -> Iterator[str]:
    """Results come before any words, once each; the order of the calls is asked for by us alone."""
    kinds = [block.get("type") for block in blocks]
    if "tool_result" in kinds[len(given) :]:
        yield f"{where}: `tool_result` blocks must come before any other content."
    if given != called and sorted(given) == sorted(called):
        yield f"{where}: `tool_result` blocks are not in the order of their `tool_use` blocks."
    if len(set(given)) < len(given):
        yield f"{where}: each `tool_use` must have a single result."


def _used(messages: list[Json]) -> Iterator[str]:
    """Check the calls in the conversation: known ids, each once, objects as input."""
    ids: set[str] = set()
    for index, message in enumerate(messages):
        for place, block in enumerate(as_blocks(message.get("content") or [])):
            if block.get("type") == "tool_use":
                yield from _use(f"messages.{index}.content.{place}", block)
                if block.get("id") in ids:
                    yield f"messages.{index}.content.{place}: `tool_use` ids must be unique"
                ids.add(str(block.get("id")))
            elif block.get("type") == "tool_result":
                known = {"type", "tool_use_id", "content", "is_error", "cache_control"}
                for name in sorted(block.keys() - known):
                    where = f"messages.{index}.content.{place}.tool_result"
                    yield f"{where}.{name}: Extra inputs are not permitted"


def _use(where: str, block: Json) -> Iterator[str]:
    for name in ("id", "name"):
        if not TOOL_NAME.fullmatch(str(block.get(name) or "")):
            pattern = "^[a-zA-Z0-9_-]+$"
            yield f"{where}.tool_use.{name}: String should match pattern '{pattern}'"
    if not isinstance(block.get("input"), dict):
        yield f"{where}.tool_use.input: Input should be a valid dictionary"
    for name in sorted(block.keys() - {"type", "id", "name", "input", "cache_control"}):
        yield f"{where}.tool_use.{name}: Extra inputs are not permitted"


def _marks(body: Json) -> Iterator[str]:
    """Check the breakpoints: how many, of which life, the longer ones first."""
    blocks = [*(body.get("tools") or []), *as_blocks(body.get("system") or [])]
    for message in body["messages"]:
        blocks.extend(as_blocks(message.get("content") or []))
    marks = [each["cache_control"] for each in [*blocks, body] if each.get("cache_control")]
    if len(marks) > MAX_MARKS:
        most = f"A maximum of {MAX_MARKS} blocks with cache_control may be provided."
        yield f"{most} Found {len(marks)}."
    for mark in marks:
        if mark.get("type") != "ephemeral":
            yield "cache_control.type: Input should be 'ephemeral'"
        if mark.get("ttl", "5m") not in LIVES:
            yield "cache_control.ephemeral.ttl: Input should be '5m' or '1h'"
        for name in sorted(mark.keys() - {"type", "ttl"}):
            yield f"cache_control.ephemeral.{name}: Extra inputs are not permitted"
    lives = [mark.get("ttl", "5m") for mark in marks]
    if "5m" in lives and "1h" in lives[lives.index("5m") :]:
        yield "a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block."


def _system(system: Any) -> Iterator[str]:
    for block in as_blocks(system):
        yield from _text("system", block)


def _tools(tools: list[Json]) -> Iterator[str]:
    names = [tool.get("name") for tool in tools]
    if len(set(names)) < len(names):
        yield "tools: Tool names must be unique."
    for index, tool in enumerate(tools):
        where = f"tools.{index}.custom"
        if not TOOL_NAME.fullmatch(str(tool.get("name") or "")):
            yield f"{where}.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'"
        if (tool.get("input_schema") or {}).get("type") != "object":
            yield f"{where}.input_schema.type: Input should be 'object'"
        if tool.get("strict"):
            yield from schema_complaints(tool["input_schema"], f"{where}.input_schema")


def _thinking(body: Json) -> Iterator[str]:
    thinking = body.get("thinking") or {"type": "disabled"}
    kind = thinking.get("type")
    if kind not in THINKING:
        found = f"Input tag '{kind}' found using 'type'"
        yield f"thinking: {found} does not match any of the expected tags"
    if kind == "enabled":
        yield from _budget(thinking.get("budget_tokens"), body.get("max_tokens", 0))
    forced = (body.get("tool_choice") or {}).get("type") in {"any", "tool"}
    if forced and kind != "disabled":
        yield "Thinking may not be enabled when tool_choice forces tool use."


def _budget(budget: Any, max_tokens: int) -> Iterator[str]:
    if not isinstance(budget, int):
        yield "thinking.enabled.budget_tokens: Field required"
    elif budget < MIN_THINKING:
        least = f"Input should be greater than or equal to {MIN_THINKING}"
        yield f"thinking.enabled.budget_tokens: {least}"
    elif budget >= max_tokens:
        yield "`max_tokens` must be greater than `thinking.budget_tokens`."


def _output(output: Json) -> Iterator[str]:
    for name in sorted(output.keys() - {"format", "effort"}):
        yield f"output_config.{name}: Extra inputs are not permitted"
    if output.get("effort") not in {None, *EFFORTS}:
        allowed = ", ".join(f"'{each}'" for each in EFFORTS[:-1])
        yield f"output_config.effort: Input should be {allowed} or '{EFFORTS[-1]}'"
    if wanted := output.get("format"):
        if wanted.get("type") != "json_schema":
            yield "output_config.format.type: Input should be 'json_schema'"
        else:
            yield from schema_complaints(wanted.get("schema"), "output_config.format.schema")
