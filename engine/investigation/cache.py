"""Whether the prompt cache pays: a mark costs a quarter more and is worth it only when read."""

from dataclasses import dataclass, field

from engine.model.run import Usage

MISSES = 5
"""In a row and per model, after which no mark is set any more."""


@dataclass
class CacheWatch:
    """Counts misses of second calls in a row; lives as long as the process."""

    misses: dict[str, int] = field(default_factory=dict)

    def pays(self, model: str) -> bool:
        """Whether marks are still worth setting."""
        return self.misses.get(model, 0) < MISSES

    def saw(self, model: str, first: Usage, second: Usage) -> str | None:
        """Look at a pair of calls; give the likely cause when the second read nothing."""
        if second.cache_read_input_tokens:
            self.misses[model] = 0
            return None
        self.misses[model] = self.misses.get(model, 0) + 1
        if not first.cache_creation_input_tokens and not first.cache_read_input_tokens:
            return "the prompt is shorter than this model caches"
        return "the cached prompt had expired or changed between the calls"
