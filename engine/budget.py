"""What a client may still spend on models today."""

from datetime import UTC, datetime

from engine.model.policy import Budget
from engine.ports import Spent


def day_start(now: datetime) -> datetime:
    """When the day of the budget began: midnight UTC."""
    return now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)


def exhausted(spent: Spent, budget: Budget) -> bool:
    """Whether no call may be sent any more; asked before one is."""
    return spent.usd >= budget.usd_per_day or spent.tokens >= budget.tokens_per_day
