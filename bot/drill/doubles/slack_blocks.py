"""What Slack says to the blocks of a message as a whole."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from bot.drill.doubles.slack_limits import IN_MESSAGES
from bot.drill.doubles.slack_schema import array, by_type, complain

MAX_BLOCKS = 50
MAX_TEXT = 13_200
"""Characters of all text in one message; users of the API measured it, Slack does not say."""

_BLOCKS = array(by_type(IN_MESSAGES), MAX_BLOCKS, 0)


def complaints(blocks: Any) -> list[str]:
    """List what makes the blocks invalid, each with its JSON pointer; empty when nothing does."""
    if found := list(_BLOCKS(blocks, "/blocks")):
        return found
    return [*_repeated_blocks(blocks), *_repeated_actions(blocks)]


def text_length(part: Any) -> int:
    """Count the characters of every text inside `part`."""
    if isinstance(part, list):
        return sum(map(text_length, part))
    if not isinstance(part, dict):
        return 0
    return sum(
        len(value) if key == "text" and isinstance(value, str) else text_length(value)
        for key, value in part.items()
    )


def _repeated_blocks(blocks: list[dict[str, Any]]) -> Iterator[str]:
    counted = Counter(block["block_id"] for block in blocks if "block_id" in block)
    for name in (name for name, count in counted.items() if count > 1):
        yield complain(f"`block_id` {name} already exists", "/blocks")


def _repeated_actions(blocks: list[dict[str, Any]]) -> Iterator[str]:
    for index, block in enumerate(blocks):
        elements = block["elements"] if block["type"] in {"actions", "context_actions"} else []
        counted = Counter(element.get("action_id") for element in elements)
        for name in (name for name, count in counted.items() if name and count > 1):
            yield complain(f"`action_id` {name} already exists", f"/blocks/{index}/elements")
