"""Wished-for cards, drawn from the database at that moment and sent at each chat's own pace."""

from bot.outbox.outbox import Outbox

__all__ = ["Outbox"]
