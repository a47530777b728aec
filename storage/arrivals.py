"""What chats delivered, by their own keys: a second delivery is known for what it is."""

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from engine.model.org import Platform

_FIRST = text("""
    insert into arrivals (platform, key) values (:platform, :key)
    on conflict do nothing returning key
""")


class ArrivalRows:
    """Deliveries of chats."""

    def __init__(self, session: AsyncSession) -> None:
        """Speak through an open session."""
        self._session = session

    async def first(self, platform: Platform, key: str) -> bool:
        """Whether this is the first delivery of what the chat knows by `key`."""
        asked = {"platform": platform.value, "key": key}
        return (await self._session.execute(_FIRST, asked)).scalar_one_or_none() is not None
