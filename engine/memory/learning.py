"""What people approved becomes findable: each symptom is embedded once per embedding."""

from typing import Final

from engine.ports import Embedder, Store

AT_ONCE: Final = 50
"""Stubs embedded in one go; the rest has its turn the next time."""


async def learn(store: Store, embedder: Embedder, limit: int = AT_ONCE) -> int:
    """Embed approved stubs that are not yet, outside any transaction; gives how many."""
    async with store.begin() as tx:
        waiting = await tx.stubs.unembedded(embedder.name, limit)
    vectors = {stub.id: await embedder.embed(stub.symptom) for stub in waiting}
    if not vectors:
        return 0
    async with store.begin() as tx:
        for stub_id, vector in vectors.items():
            await tx.stubs.embed(stub_id, embedder.name, vector)
    return len(vectors)
