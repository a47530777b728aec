"""Conversations the Messages double has seen: what shapes the prompt must not change in one.

The API itself takes any change and only charges for it; here it is a mistake.
"""

from typing import Any

from bot.drill.doubles.prompt_cache import as_blocks
from engine.model.base import canonical_json, digest

Json = dict[str, Any]
SHAPE = ("tools", "tool_choice", "output_config")


class Conversations:
    """The shape of every conversation, by the messages it has come to."""

    def __init__(self) -> None:
        self._shapes: dict[str, str] = {}

    def complaint(self, body: Json) -> str | None:
        """Say what changed in a conversation that goes on; None when nothing did."""
        earlier = self._shapes.get(_key(body["messages"][:-2]))
        if earlier is None or earlier == _shape(body):
            return None
        return f"{', '.join(SHAPE)}: one of them changed within a conversation"

    def heard(self, body: Json) -> None:
        """Remember a request."""
        self._shapes[_key(body["messages"])] = _shape(body)


def _shape(body: Json) -> str:
    return digest(canonical_json({name: body.get(name) for name in SHAPE}))


def _key(messages: list[Json]) -> str:
    bare = [
        [
            message["role"],
            *(
                {name: value for name, value in block.items() if name != "cache_control"}
                for block in as_blocks(message["content"])
            ),
        ]
        for message in messages
    ]
    return digest(canonical_json(bare)) if bare else ""
