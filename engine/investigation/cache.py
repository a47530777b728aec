"""Whether the prompt cache pays: a mark costs a quarter more and is worth it only when read."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from engine.model.llm import ModelRequest, Turn
from engine.model.run import Usage

MISSES = 5
"""In a row and per model, after which no mark is set any more."""
LIVES_S = 300.0
"""How long a provider keeps a prompt that nobody reads."""
MINIMUM_TOKENS = 4096
"""The longest prompt any model does not cache yet."""
CHARACTERS_PER_TOKEN = 4


@dataclass(frozen=True)
class Seen:
    """A call that was answered."""

    request: ModelRequest
    usage: Usage
    at_s: float
    """When it was sent, on a clock that only grows."""


@dataclass
class CacheWatch:
    """Counts calls in a row that read nothing; lives as long as the process."""

    misses: dict[str, int] = field(default_factory=dict)

    def pays(self, model: str) -> bool:
        """Whether marks are still worth setting."""
        return self.misses.get(model, 0) < MISSES

    def saw(self, before: Seen, after: Seen) -> str | None:
        """Look at a call and the one before it; give the likely cause when nothing was read."""
        model = after.request.model
        if before.request.model != model or not _marked(before.request):
            return None
        if after.usage.cache_read_input_tokens:
            self.misses[model] = 0
            return None
        self.misses[model] = self.misses.get(model, 0) + 1
        return _cause(before, after)


def _marked(request: ModelRequest) -> bool:
    marks = [block.cache for block in request.system]
    marks += [block.cache for turn in request.turns for block in turn.blocks]
    marks += [answer.cache for turn in request.turns for answer in turn.answers]
    return any(marks)


def _cause(before: Seen, after: Seen) -> str:
    changed = next(_changes(before.request, after.request), None)
    if changed is not None:
        return f"{changed} changed since the call before"
    if not before.usage.cache_creation_input_tokens and not before.usage.cache_read_input_tokens:
        if len(before.request.canonical()) < MINIMUM_TOKENS * CHARACTERS_PER_TOKEN:
            return "the prompt is shorter than this model caches"
        return "the provider says nothing of having cached it"
    if after.at_s - before.at_s > LIVES_S:
        return f"more than {LIVES_S / 60:.0f} minutes passed since the call before"
    return "the provider dropped what it had cached"


def _changes(one: ModelRequest, two: ModelRequest) -> Iterator[str]:
    """Name what stands in the prefix of both and is not the same."""
    whole = ModelRequest.model_fields.keys() - {"model", "turns", "system", "max_tokens"}
    yield from (name for name in sorted(whole) if getattr(one, name) != getattr(two, name))
    if [block.text for block in one.system] != [block.text for block in two.system]:
        yield "system"
    for number, (first, second) in enumerate(zip(one.turns, two.turns, strict=False), start=1):
        if _words(first) != _words(second):
            yield f"turn {number}"


def _words(turn: Turn) -> tuple[object, ...]:
    """All a turn says, its marks left out."""
    answers = [(answer.call_id, answer.text, answer.failed) for answer in turn.answers]
    return turn.role, [block.text for block in turn.blocks], turn.calls, answers
