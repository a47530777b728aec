"""What a client may still spend on models today."""

from datetime import UTC, datetime

from engine.model.base import Frozen
from engine.model.llm import ModelRequest
from engine.model.policy import Budget
from engine.model.run import Usage
from engine.ports import Spent

CHARACTERS_PER_TOKEN = 3
"""On the safe side: English has four and more, JSON fewer."""
CALLS = 2
"""How many calls a triage that begins must be able to pay."""


class Held(Frozen):
    """What a call may cost, kept free for it until it is settled."""

    usd: float = 0
    tokens: int = 0


def day_start(now: datetime) -> datetime:
    """When the day of the budget began: midnight UTC."""
    return now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)


def exhausted(spent: Spent, budget: Budget) -> bool:
    """Whether no call may be sent any more; asked before one is."""
    return spent.usd >= budget.usd_per_day or spent.tokens >= budget.tokens_per_day


def estimate(request: ModelRequest) -> Usage:
    """Guess what a call uses at most: all of it written to the cache, all of its room filled."""
    tokens = len(request.canonical()) // CHARACTERS_PER_TOKEN
    return Usage(cache_creation_input_tokens=tokens, output_tokens=request.max_tokens)


def affords(spent: Spent, held: Held, budget: Budget, *, begins: bool) -> bool:
    """Whether a call may be sent; one that begins or looks only if the next can be paid as well."""
    times = CALLS if begins else 1
    usd, tokens = spent.usd + times * held.usd, spent.tokens + times * held.tokens
    return usd <= budget.usd_per_day and tokens <= budget.tokens_per_day
