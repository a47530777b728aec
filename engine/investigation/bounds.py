"""Three bounds on one investigation, with what its conclusion needs held back inside them."""

from dataclasses import dataclass

from engine.model.base import Frozen
from engine.model.ledger import Bound
from engine.model.llm import ModelReply
from engine.model.policy import TriageRule

CHARACTERS_PER_TOKEN = 3
"""On the safe side: evidence is denser than prose."""
LEAST_S = 1.0
"""Less than this is no attempt."""
_TIME_SHARE = 0.1


class Bounds(Frozen):
    """How much an investigation may take, its conclusion included."""

    deadline_s: float
    tokens: int
    """Output, and what was appended to the conversation; what is sent again is not counted."""
    loops: int
    """Turns that ask tools; 0 offers none."""
    reserve_s: float
    reserve_tokens: int
    """What is left for the conclusion when looking has to stop."""

    @classmethod
    def of(cls, rule: TriageRule) -> "Bounds":
        """The bounds of a full investigation."""
        return cls.holding(rule.deadline, rule.token_budget, rule.max_loops, rule)

    @classmethod
    def confirming(cls, rule: TriageRule) -> "Bounds":
        """The bounds of a look at whether a remembered cause is this one."""
        return cls.holding(
            rule.confirm_deadline, rule.confirm_token_budget, rule.confirm_max_loops, rule
        )

    @classmethod
    def holding(cls, deadline_s: float, tokens: int, loops: int, rule: TriageRule) -> "Bounds":
        """Hold back a tenth of the time and one reply; nothing where there is no looking."""
        return cls(
            deadline_s=deadline_s,
            tokens=tokens,
            loops=loops,
            reserve_s=deadline_s * _TIME_SHARE if loops else 0,
            reserve_tokens=min(rule.conclude_max_tokens, tokens) if loops else 0,
        )

    @property
    def open(self) -> bool:
        """Whether there is any looking in it."""
        return self.loops > 0 and self.stop_tokens > 0

    @property
    def stop_s(self) -> float:
        """When looking ends."""
        return self.deadline_s - self.reserve_s

    @property
    def stop_tokens(self) -> int:
        """At how many tokens looking ends."""
        return self.tokens - self.reserve_tokens


def tokens_of(text: str) -> int:
    """Estimate the tokens of a text, upwards."""
    return -(-len(text) // CHARACTERS_PER_TOKEN)


@dataclass
class Meter:
    """What an investigation has used up."""

    bounds: Bounds
    started_s: float
    tokens: int = 0
    loops: int = 0
    looked_s: float = 0
    """From the start to the last tool result."""
    bound: Bound | None = None
    """The first bound that was reached; from then on there is only the conclusion."""
    full: bool = False
    """An answer did not fit any more."""
    strays: int = 0
    """Replies that asked for tools after that."""

    def left_s(self, now_s: float) -> float:
        """Seconds the next call may take: the conclusion alone may use the reserve."""
        until_s = self.bounds.stop_s if self.bound is None else self.bounds.deadline_s
        return self.started_s + until_s - now_s

    @property
    def room(self) -> int:
        """Tokens left, the reserve held back until it is needed."""
        most = self.bounds.stop_tokens if self.bound is None else self.bounds.tokens
        return most - self.tokens

    @property
    def begun(self) -> bool:
        """Whether a model has answered."""
        return self.tokens > 0

    def heard(self, reply: ModelReply) -> None:
        """Count what a model said, by its provider's own count where there is one."""
        said = reply.text + "".join(call.arguments for call in reply.calls)
        self.tokens += reply.usage.output_tokens or tokens_of(said)

    def appended(self, text: str) -> None:
        """Count what was put behind the conversation."""
        self.tokens += tokens_of(text)

    def look(self, now_s: float) -> Bound | None:
        """Say which bound is reached, the first one for good."""
        if self.bound is None:
            hit = {
                Bound.DEADLINE: self.left_s(now_s) < LEAST_S,
                Bound.TOKENS: self.full or self.room <= 0,
                Bound.LOOPS: self.loops >= self.bounds.loops,
            }
            self.bound = next((bound for bound, is_hit in hit.items() if is_hit), None)
        return self.bound
