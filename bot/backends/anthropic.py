"""Models behind the Messages API, of its provider or of any gateway that speaks it."""

import asyncio
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
from engine.model.llm import Block, Capabilities, ModelReply, ModelRequest, StopReason, Turn
from engine.model.run import Usage

Json = dict[str, Any]
TOOL = "Give the answer. Call this once, with one object."


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
                message = await self._created(request, timeout_s)
            return _heard(message, request)
        except TimeoutError as error:
            raise TimedOutError(f"{timeout_s:.0f} s", kind="timeout") from error
        except EngineError as error:
            raise self._masked(error) from error

    async def _created(self, request: ModelRequest, timeout_s: float) -> object:
        """Have the request answered; what the library and the wire do is an error of ours."""
        body = body_of(request, self.capabilities, self.thinking)
        try:
            return await self.client.messages.create(**body, timeout=timeout_s)
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

    Without structured output the schema becomes the one tool's, and the same words are sent.
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
    if able.structured_output:
        body["output_config"] = {"format": {"type": "json_schema", "schema": schema}}
    else:
        tool = {"name": request.schema_name, "description": TOOL, "input_schema": schema}
        body |= {"tools": [tool], "tool_choice": {"type": "auto"}}
    return body


def _turn(turn: Turn, able: Capabilities) -> Json:
    return {"role": turn.role, "content": [_block(block, able) for block in turn.blocks]}


def _block(block: Block, able: Capabilities) -> Json:
    said: Json = {"type": "text", "text": block.text}
    if block.cache and able.prompt_cache:
        said["cache_control"] = {"type": "ephemeral"}
    return said


def _heard(message: object, request: ModelRequest) -> ModelReply:
    """Read a reply; an error told with status 200 is the error it tells."""
    said = message.to_dict(warnings=False) if isinstance(message, Message) else message
    if isinstance(said, dict) and "error" in said:
        raise classify(httpx2.codes.OK, said, {}, _sent(request))
    return reply_of(message)


def reply_of(message: object) -> ModelReply:
    """Read a reply; it counts only if it is a message that says why it stopped.

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
        text=_text(message),
        stop_reason=StopReason(message.stop_reason),
        usage=_usage(message),
        model=str(message.model),
        request_id=message._request_id or "",  # noqa: SLF001 - the SDK's documented place for it
    )


def _text(message: Message) -> str:
    """Give what was said: the tool's object where it was called, else the text."""
    for block in message.content:
        if isinstance(block, ToolUseBlock):
            return canonical_json(block.input)
    texts = [block.text or "" for block in message.content if isinstance(block, TextBlock)]
    return "".join(texts).encode("utf-8", "replace").decode()


def _usage(message: Message) -> Usage:
    """Read the tokens; a gateway may leave any of them out."""
    counted = {name: getattr(message.usage, name, None) or 0 for name in Usage.model_fields}
    return Usage(**{name: max(0, int(value)) for name, value in counted.items()})


def _refused(error: anthropic.APIStatusError, request: ModelRequest) -> EngineError:
    body = error.body if error.body is not None else error.response.text
    return classify(error.status_code, body, dict(error.response.headers), _sent(request))


def _sent(request: ModelRequest) -> str:
    """Everything the request says in words."""
    turns = [*request.system, *(block for turn in request.turns for block in turn.blocks)]
    return "\n".join(block.text for block in turns)
