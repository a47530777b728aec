"""Models behind the Messages API, of its provider or of any gateway that speaks it."""

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import anthropic
import httpx2
from anthropic.types import Message, TextBlock, ToolUseBlock
from pydantic import ValidationError

from bot.backends.failing.verdict import Category
from bot.backends.llm_errors import broken, classify
from engine.errors import EngineError, TimedOutError, UnusableReplyError
from engine.model.base import canonical_json
from engine.model.llm import (
    Block,
    Capabilities,
    ModelReply,
    ModelRequest,
    StopReason,
    ToolAnswer,
    ToolCall,
    Turn,
)
from engine.model.run import Usage

Json = dict[str, Any]
Response = anthropic.AsyncAPIResponse[Message]
MOST_KEPT = 100_000
"""Characters of a reply that cannot be read."""
TOOL = "Give the answer. Call this once, with one object."
CUT = frozenset({"max_tokens", "model_context_window_exceeded", "refusal"})
"""A call in a reply that ends like this may be half of one."""


def connect(
    *, key: str, base_url: str | None, http_client: anthropic.DefaultAsyncHttpxClient | None = None
) -> anthropic.AsyncAnthropic:
    """Make a client that tries once: the queue is the only layer that tries again."""
    own = http_client or anthropic.DefaultAsyncHttpxClient(trust_env=False, follow_redirects=False)
    return anthropic.AsyncAnthropic(api_key=key, base_url=base_url, max_retries=0, http_client=own)


@dataclass(frozen=True)
class AnthropicModel:
    """One provider; `thinking` is sent as it is with every call."""

    client: anthropic.AsyncAnthropic
    capabilities: Capabilities = field(default_factory=Capabilities)
    thinking: Mapping[str, Any] = field(default_factory=lambda: {"type": "disabled"})
    redact: Callable[[str], str] = str
    """Masks what a provider says; some say back the key they refuse."""

    async def complete(self, request: ModelRequest, timeout_s: float) -> ModelReply:
        """Send one request, once.

        Raises:
            EngineError: whatever the provider did.
        """
        try:
            async with asyncio.timeout(timeout_s):
                response = await self._created(request, timeout_s)
                return await self._read(response, request)
        except TimeoutError as error:
            raise TimedOutError(f"{timeout_s:.0f} s", kind="timeout") from error
        except EngineError as error:
            raise self._masked(error) from error

    async def _read(self, response: Response, request: ModelRequest) -> ModelReply:
        """Read a reply; what cannot be read keeps its words, for it is paid for."""
        try:
            return _heard(await _parsed(response), request)
        except EngineError as error:
            error.reply = self.redact((await response.text())[:MOST_KEPT])
            raise

    async def _created(self, request: ModelRequest, timeout_s: float) -> Response:
        """Have the request answered; what the library and the wire do is an error of ours."""
        body = body_of(request, self.capabilities, self.thinking)
        try:
            create = self.client.messages.with_raw_response.create
            return await create(**body, timeout=timeout_s)
        except anthropic.APITimeoutError as error:
            raise TimedOutError(f"{timeout_s:.0f} s", kind="timeout") from error
        except anthropic.APIStatusError as error:
            raise _refused(error, request) from error
        except (anthropic.AnthropicError, httpx2.HTTPError, ValidationError, ValueError) as error:
            raise broken(error) from error

    def _masked(self, error: EngineError) -> EngineError:
        return error.saying(self.redact(error.detail))


def body_of(request: ModelRequest, able: Capabilities, thinking: Mapping[str, Any]) -> Json:
    """Say a request as the API wants it.

    Without structured output the schema becomes a tool's, the last one, and the same words are
    sent.
    """
    body: Json = {
        "model": request.model,
        "max_tokens": request.max_tokens,
        "system": [_block(block, able) for block in request.system],
        "messages": [_turn(turn, able) for turn in request.turns],
    }
    if thinking:
        body["thinking"] = dict(thinking)
    schema = dict(request.reply_schema)
    tools = [_tool(t.name, t.description, dict(t.input_schema)) for t in request.tools]
    if able.structured_output:
        body["output_config"] = {"format": {"type": "json_schema", "schema": schema}}
    else:
        tools.append(_tool(request.schema_name, TOOL, schema))
    if tools:
        body |= {"tools": tools, "tool_choice": {"type": "auto"}}
    return body


def _tool(name: str, description: str, schema: Json) -> Json:
    return {"name": name, "description": description, "input_schema": schema}


def _turn(turn: Turn, able: Capabilities) -> Json:
    """Say a turn: answers ahead of words, calls behind them, as the API demands."""
    answers = [_answer(answer, able) for answer in turn.answers]
    words = [_block(block, able) for block in turn.blocks]
    return {"role": turn.role, "content": [*answers, *words, *map(_call, turn.calls)]}


def _answer(answer: ToolAnswer, able: Capabilities) -> Json:
    said: Json = {"type": "tool_result", "tool_use_id": answer.call_id, "content": answer.text}
    if answer.failed:
        said["is_error"] = True
    return said | _mark(able, marked=answer.cache)


def _call(call: ToolCall) -> Json:
    given = json.loads(call.arguments)
    return {"type": "tool_use", "id": call.id, "name": call.name, "input": given}


def _block(block: Block, able: Capabilities) -> Json:
    return {"type": "text", "text": block.text} | _mark(able, marked=block.cache)


def _mark(able: Capabilities, *, marked: bool) -> Json:
    return {"cache_control": {"type": "ephemeral"}} if marked and able.prompt_cache else {}


async def _parsed(response: Response) -> object:
    try:
        return await response.parse()
    except (anthropic.AnthropicError, httpx2.HTTPError, ValidationError, ValueError) as error:
        raise broken(error) from error


def _heard(message: object, request: ModelRequest) -> ModelReply:
    """Read a reply; an error told with status 200 is the error it tells."""
    said = message.to_dict(warnings=False) if isinstance(message, Message) else message
    if isinstance(said, dict) and "error" in said:
        raise classify(httpx2.codes.OK, said, {}, _sent(request))
    return reply_of(message, request.schema_name)


def reply_of(message: object, conclude: str = "") -> ModelReply:
    """Read a reply; it counts only if it is a message that says why it stopped.

    Args:
        message: what came back.
        conclude: name of the tool that stands for structured output.

    Raises:
        UnusableReplyError: it is no such message.
    """
    if not isinstance(message, Message) or not isinstance(message.content, list):
        came = f"a {type(message).__name__} came back"
        raise UnusableReplyError(came, kind=Category.NO_MESSAGE.value, tells=True)
    if message.stop_reason not in set(StopReason):
        cut = f"stop reason {message.stop_reason!s:.40}"
        raise UnusableReplyError(cut, kind=Category.STREAM_CUT.value)
    return ModelReply(
        text=_text(message, conclude),
        stop_reason=StopReason(message.stop_reason),
        usage=_usage(message),
        model=str(message.model),
        request_id=message._request_id or "",  # noqa: SLF001 - the SDK's documented place for it
        calls=_calls(message, conclude),
    )


def _text(message: Message, conclude: str) -> str:
    """Give what was said: the object of the concluding tool where it was called, else the text."""
    for block in message.content:
        if isinstance(block, ToolUseBlock) and block.name == conclude:
            return _said(block.input)
    texts = [block.text or "" for block in message.content if isinstance(block, TextBlock)]
    return "".join(texts).encode("utf-8", "replace").decode()


def _calls(message: Message, conclude: str) -> tuple[ToolCall, ...]:
    """Give the tools it asks for; a conclusion, or a reply that was cut off, asks for none."""
    used = [block for block in message.content if isinstance(block, ToolUseBlock)]
    if message.stop_reason in CUT or any(block.name == conclude for block in used):
        return ()
    return tuple(
        ToolCall(id=str(block.id), name=str(block.name), arguments=_said(block.input))
        for block in used
    )


def _said(given: object) -> str:
    """Write an input as JSON; what is no JSON is written as nothing."""
    try:
        return canonical_json(given).encode("utf-8", "replace").decode()
    except (ValueError, TypeError, RecursionError):
        return "null"


def _usage(message: Message) -> Usage:
    """Read the tokens; a gateway may leave any of them out."""
    counted = {name: getattr(message.usage, name, None) or 0 for name in Usage.model_fields}
    return Usage(**{name: max(0, int(value)) for name, value in counted.items()})


def _refused(error: anthropic.APIStatusError, request: ModelRequest) -> EngineError:
    body = error.body if error.body is not None else error.response.text
    return classify(error.status_code, body, dict(error.response.headers), _sent(request))


def _sent(request: ModelRequest) -> str:
    """Everything the request says in words."""
    words = [block.text for block in request.system]
    for turn in request.turns:
        words += [answer.text for answer in turn.answers]
        words += [block.text for block in turn.blocks]
        words += [call.arguments for call in turn.calls]
    return "\n".join(words)
