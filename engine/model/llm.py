"""What is said to a model and what comes back, free of any provider's library."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Literal

from engine.model.base import Frozen
from engine.model.run import Usage


class Block(Frozen):
    """A stretch of text in a turn; `cache` ends a reusable prefix here."""

    text: str
    cache: bool = False


class Turn(Frozen):
    """One side's words."""

    role: Literal["user", "assistant"]
    blocks: tuple[Block, ...]


class ModelRequest(Frozen):
    """Everything one call sends."""

    model: str
    system: tuple[Block, ...]
    turns: tuple[Turn, ...]
    schema_name: str
    reply_schema: Mapping[str, Any]
    """JSON schema the reply must satisfy; the same for every call of a triage."""
    max_tokens: int


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


class Capabilities(Frozen):
    """What the configured provider can do."""

    structured_output: bool = True
    prompt_cache: bool = True
