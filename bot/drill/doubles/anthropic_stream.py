"""A message as the server-sent events in which it is streamed."""

import json
from collections.abc import Iterator
from typing import Any

Json = dict[str, Any]

PIECE = 24
"""Characters of text in one delta."""


def events(message: Json) -> Iterator[Json]:
    """Tell a finished message as its stream of events."""
    opening = {"content": [], "stop_reason": None, "usage": message["usage"] | {"output_tokens": 1}}
    yield {"type": "message_start", "message": message | opening}
    for index, block in enumerate(message["content"]):
        yield from _block(index, block)
    ending = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": ending, "usage": message["usage"]}
    yield {"type": "message_stop"}


def written(event: Json) -> bytes:
    """Write an event as it goes over the wire."""
    return f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()


def _block(index: int, block: Json) -> Iterator[Json]:
    empty, deltas = _parts(block)
    yield {"type": "content_block_start", "index": index, "content_block": empty}
    for delta in deltas:
        yield {"type": "content_block_delta", "index": index, "delta": delta}
    yield {"type": "content_block_stop", "index": index}


def _parts(block: Json) -> tuple[Json, list[Json]]:
    """Take a block apart: how it begins, and what comes after."""
    match block["type"]:
        case "text":
            deltas = [{"type": "text_delta", "text": piece} for piece in _pieces(block["text"])]
            return block | {"text": ""}, deltas
        case "thinking":
            thoughts = [
                {"type": "thinking_delta", "thinking": piece}
                for piece in _pieces(block["thinking"])
            ]
            signed = {"type": "signature_delta", "signature": block["signature"]}
            return block | {"thinking": "", "signature": ""}, [*thoughts, signed]
        case "tool_use":
            pieces = _pieces(json.dumps(block["input"]))
            deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in pieces]
            return block | {"input": {}}, deltas
        case _:
            return block, []


def _pieces(text: str) -> list[str]:
    return [text[start : start + PIECE] for start in range(0, len(text), PIECE)]
