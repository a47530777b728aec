"""What is said to a model and what comes back, free of any provider's library."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Literal

from pydantic import Field

from engine.model.base import Frozen
from engine.model.run import Usage


class Block(Frozen):
    """A stretch of text in a turn; `cache` ends a reusable prefix here."""

    text: str
    cache: bool = False


class ToolSpec(Frozen):
    """A tool a model may ask for; read-only, like all of them."""

    name: str = Field(pattern=r"^[a-zA-Z0-9_-]{1,64}$")
    description: str
    input_schema: Mapping[str, Any]
    """JSON schema of its arguments: a closed object."""


class ToolCall(Frozen):
    """A tool a model asked for, as it asked."""

    id: str
    name: str
    arguments: str
    """A JSON object as text; nothing of it is trusted, not even that it is one."""


class ToolAnswer(Frozen):
    """What came of a call; every call of a turn has one, in the order of the calls."""

    call_id: str
    text: str
    failed: bool = False
    cache: bool = False
    """A reusable prefix ends behind it."""


class Turn(Frozen):
    """One side's words, and the tools it asked for or the answers it got."""

    role: Literal["user", "assistant"]
    blocks: tuple[Block, ...] = ()
    calls: tuple[ToolCall, ...] = ()
    """Of an assistant, behind its words."""
    answers: tuple[ToolAnswer, ...] = ()
    """To the calls before, ahead of any words."""


class ModelRequest(Frozen):
    """Everything one call sends."""

    model: str
    system: tuple[Block, ...]
    turns: tuple[Turn, ...]
    schema_name: str
    reply_schema: Mapping[str, Any]
    """JSON schema the reply must satisfy; the same for every call of a triage."""
    max_tokens: int
    tools: tuple[ToolSpec, ...] = ()
    """The same for every call of a triage; none in the two-call flow."""


class StopReason(StrEnum):
    """Why the model stopped."""

    END_TURN = "end_turn"
    MAX_TOKENS = "max_tokens"
    STOP_SEQUENCE = "stop_sequence"
    TOOL_USE = "tool_use"
    PAUSE_TURN = "pause_turn"
    REFUSAL = "refusal"
    CONTEXT_WINDOW = "model_context_window_exceeded"


class ModelReply(Frozen):
    """What came back, settled: text, why it ended and what it cost."""

    text: str
    stop_reason: StopReason
    usage: Usage
    model: str
    request_id: str = ""
    calls: tuple[ToolCall, ...] = ()
    """Tools it asks for, in its order."""


class Capabilities(Frozen):
    """What the configured provider can do."""

    structured_output: bool = True
    prompt_cache: bool = True
