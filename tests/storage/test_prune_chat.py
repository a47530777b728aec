"""What chats delivered, asked and muted is forgotten with the rest."""

from datetime import timedelta

from engine.model.org import Platform
from storage.prune import prune
from storage.store import SqlStore


async def test_old_deliveries_and_mutes_go_and_those_that_count_stay(store: SqlStore) -> None:
    async with store.begin() as tx:
        now = await tx.now()
        await tx.org.declare_client("acme", {})
        await tx.arrivals.keep(Platform.SLACK, "Ev1")
        await tx.mutes.keep("acme", "over", now - timedelta(days=9), "ada")
        await tx.mutes.keep("acme", "holds", now + timedelta(hours=1), "ada")
    assert await prune(store, now - timedelta(days=8)) == {"mutes": 1}
    async with store.begin() as tx:
        assert await tx.arrivals.seen(Platform.SLACK, "Ev1")
        assert await tx.mutes.standing("acme", "holds") is not None
    assert await prune(store, now + timedelta(seconds=60)) == {"arrivals": 1}
