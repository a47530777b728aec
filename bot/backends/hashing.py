"""The embedding that needs nothing: words hashed into a vector, without a model or a network."""

import asyncio
from collections.abc import Sequence

from engine.memory.features import hashed

DIMENSIONS = 1536


class HashedWords:
    """Likeness of words: for the same failure told again, not for the same told in other words."""

    name = "hashed-words-1"
    """Stored with every vector; another table of rarities or other weights need another name."""

    async def embed(self, text: str) -> Sequence[float]:
        """The vector of a text; a long one takes milliseconds, so it is made beside the loop."""
        return await asyncio.to_thread(hashed, text, DIMENSIONS)
