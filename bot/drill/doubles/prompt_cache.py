"""The provider's prompt cache: what a request reads from it, writes to it, and pays in full.

A prefix is tools, then system, then messages, up to a breakpoint. Everything that shapes how the
prompt is rendered (model, tool choice, thinking, effort, output schema) belongs to its key.

Source: docs of prompt caching; entries live five minutes or an hour after they were last used.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from bot.drill.doubles.faults import Now
from engine.model.base import canonical_json, digest

Json = dict[str, Any]

LIVES = {"5m": timedelta(minutes=5), "1h": timedelta(hours=1)}
LOOKBACK = 20
"""How many blocks before a breakpoint an older entry is looked for."""
CHARACTERS_PER_TOKEN = 4
KEY = ("model", "tool_choice", "thinking", "output_config")


@dataclass(frozen=True)
class Part:
    """One block of a prompt."""

    text: str
    """Canonical, and without its breakpoint."""
    tokens: int
    mark: str | None = None
    """Lifetime of the breakpoint that stands on it."""


@dataclass(frozen=True)
class Charge:
    """Input tokens of one request, by what they cost; the four sum up to all of them."""

    plain: int = 0
    read: int = 0
    written_5m: int = 0
    written_1h: int = 0

    def wire(self) -> Json:
        """Say it as the API's usage does: `input_tokens` leaves the cached ones out."""
        return {
            "input_tokens": self.plain,
            "cache_creation_input_tokens": self.written_5m + self.written_1h,
            "cache_read_input_tokens": self.read,
            "cache_creation": {
                "ephemeral_5m_input_tokens": self.written_5m,
                "ephemeral_1h_input_tokens": self.written_1h,
            },
        }


@dataclass
class _Entry:
    lives: timedelta
    until: datetime


class PromptCache:
    """Prefixes by their digest.

    Args:
        now: Wall clock.
        minimum: Tokens below which a prefix is not cached.
    """

    def __init__(self, now: Now, minimum: int = 1024) -> None:
        self.now, self.minimum = now, minimum
        self.minimum_of: dict[str, int] = {}
        """Another minimum, by model."""
        self._entries: dict[str, _Entry] = {}

    def charge(self, body: Json) -> Charge:
        """Account for a request, and keep the prefixes it marks."""
        parts = list(parts_of(body))
        keys, sums = _prefixes(body, parts)
        marks = [index for index, part in enumerate(parts) if part.mark]
        read = self._longest(keys, marks)
        reached, written = sums[read] if read is not None else 0, dict.fromkeys(LIVES, 0)
        charged = reached
        for index in marks:
            lives = parts[index].mark or "5m"
            if sums[index] >= self.minimum_of.get(str(body["model"]), self.minimum):
                self._keep(keys[index], LIVES[lives])
                written[lives] += max(0, sums[index] - charged)
                charged = max(charged, sums[index])
        total = sums[-1] if sums else 0
        return Charge(total - charged, reached, written["5m"], written["1h"])

    def _longest(self, keys: list[str], marks: list[int]) -> int | None:
        """Find the longest kept prefix near a breakpoint, and let it live on."""
        near = {i for mark in marks for i in range(max(0, mark - LOOKBACK + 1), mark + 1)}
        for index in sorted(near, reverse=True):
            entry = self._entries.get(keys[index])
            if entry and entry.until > self.now():
                entry.until = self.now() + entry.lives
                return index
        return None

    def _keep(self, key: str, lives: timedelta) -> None:
        known = self._entries.get(key)
        if known is None or known.until <= self.now() or known.lives < lives:
            self._entries[key] = _Entry(lives, self.now() + lives)


def parts_of(body: Json) -> Iterator[Part]:
    """Go through the blocks of a prompt in the order in which they are cached."""
    blocks = [*_blocks(body)]
    if body.get("cache_control") and blocks:
        where, block = blocks[-1]
        blocks[-1] = (where, block | {"cache_control": body["cache_control"]})
    for where, block in blocks:
        control = block.get("cache_control")
        bare = {name: value for name, value in block.items() if name != "cache_control"}
        lives = control.get("ttl", "5m") if control else None
        yield Part(canonical_json([where, bare]), count_tokens(bare), lives)


def count_tokens(content: Any) -> int:
    """Estimate the tokens of anything that is JSON, or of text."""
    text = content if isinstance(content, str) else canonical_json(content)
    return max(1, len(text) // CHARACTERS_PER_TOKEN)


def count_prompt(body: Json) -> int:
    """Estimate the tokens of a whole prompt."""
    return sum(part.tokens for part in parts_of(body))


def _blocks(body: Json) -> Iterator[tuple[str, Json]]:
    """Give every block with the place it stands in."""
    for tool in body.get("tools") or []:
        yield "tools", tool
    for block in as_blocks(body.get("system") or []):
        yield "system", block
    for index, message in enumerate(body["messages"]):
        for block in as_blocks(message["content"]):
            yield f"{index} {message['role']}", block


def as_blocks(content: Any) -> list[Json]:
    """Read content that may be plain text as the list of blocks it stands for."""
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)


def _prefixes(body: Json, parts: list[Part]) -> tuple[list[str], list[int]]:
    """Give the digest and the tokens of every prefix."""
    key = digest(canonical_json({name: body.get(name) for name in KEY}))
    keys, sums, reached = list[str](), list[int](), 0
    for part in parts:
        key, reached = digest(key + part.text), reached + part.tokens
        keys.append(key)
        sums.append(reached)
    return keys, sums
