"""What chats delivered, by their own keys: a second delivery is known for what it is."""

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from engine.model.org import Platform

_SEEN = text("select count(*) from arrivals where platform = :platform and key = :key")
_KEEP = text("""
    insert into arrivals (platform, key) values (:platform, :key) on conflict do nothing
""")


class ArrivalRows:
    """Deliveries of chats."""

    def __init__(self, session: AsyncSession) -> None:
        """Speak through an open session."""
        self._session = session

    async def seen(self, platform: Platform, key: str) -> bool:
        """Whether what the chat knows by `key` was dealt with before."""
        asked = {"platform": platform.value, "key": key}
        return bool((await self._session.execute(_SEEN, asked)).scalar_one())

    async def keep(self, platform: Platform, key: str) -> None:
        """Remember that it was dealt with; only then, as a repeat may be all we get of it."""
        await self._session.execute(_KEEP, {"platform": platform.value, "key": key})
