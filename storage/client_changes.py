"""The changes of one client, as its context pack asks for them."""

from collections.abc import Sequence
from datetime import datetime

from engine.model.change import Change
from storage.store import SqlStore


class ClientChanges:
    """The changes of one client, each question in a transaction of its own."""

    def __init__(self, store: SqlStore, client_id: str) -> None:
        """Read from `store` what was told for one client."""
        self._store = store
        self._client_id = client_id

    async def between(self, start_at: datetime, end_at: datetime) -> Sequence[Change]:
        """Changes, newest first."""
        async with self._store.begin() as tx:
            return await tx.changes.between(self._client_id, start_at, end_at)

    async def sources(self) -> int:
        """How many change sources ever spoke for this client."""
        async with self._store.begin() as tx:
            return await tx.changes.sources(self._client_id)
