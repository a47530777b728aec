"""What one client learned from earlier incidents, as its context pack asks for it."""

from collections.abc import Sequence

from engine.model.memory import Near
from engine.ports import Embedder
from storage.store import SqlStore


class ClientMemory:
    """The approved resolutions of one client, each question in a transaction of its own."""

    def __init__(self, store: SqlStore, client_id: str, embedder: Embedder, held_s: float) -> None:
        """Search what `store` holds of one client.

        Args:
            store: the database.
            client_id: whose resolutions; nobody else's are ever seen.
            embedder: the one that is in use.
            held_s: how long a family must stay quiet after its fix, seconds.
        """
        self._store = store
        self._client_id = client_id
        self._embedder = embedder
        self._held_s = held_s

    async def similar(self, symptom: str, *, most: float, limit: int) -> Sequence[Near] | None:
        """Earlier cases no farther than `most`, the most alike first; None: memory is off."""
        vector = await self._embedder.embed(symptom)
        async with self._store.begin() as tx:
            return await tx.stubs.similar(
                self._client_id,
                symptom,
                self._embedder.name,
                vector,
                most=most,
                held_s=self._held_s,
                limit=limit,
            )
