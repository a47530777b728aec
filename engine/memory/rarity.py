"""How rare a word or a piece of one is in texts about failures: a table that never changes.

A vector made with another table lies elsewhere. So a new table is a new embedding with a new name.
"""

import math
import zlib
from functools import cache
from pathlib import Path
from typing import Final

BUCKETS: Final = 1 << 17
STEPS: Final = 32
"""Steps of one natural unit of rarity in a byte of the table."""
UNSEEN: Final = math.log(2860 / 3)
"""Rarity of what stood in fewer than four of the table's 2,859 texts."""
_TABLE: Final = Path(__file__).with_name("rarity.zlib")


def seed(feature: str) -> int:
    """A number that is the same for a feature on every machine, 32 bits."""
    return zlib.crc32(feature.encode())


def bucket(seeded: int) -> int:
    """The place of a seeded feature in the table."""
    return (seeded >> 8) % BUCKETS


@cache
def table() -> bytes:
    """One byte a bucket; zero is what was hardly ever seen."""
    return zlib.decompress(_TABLE.read_bytes())


def rarity(seeded: int) -> float:
    """Natural logarithm of how many texts there are for one that holds it."""
    held = table()[bucket(seeded)]
    return held / STEPS if held else UNSEEN


def word_class(word: str) -> str:
    """A letter for a whole word or name: A is telling, D stands everywhere."""
    known = min(rarity(seed(f"w{word}")), rarity(seed(f"n{word}")))
    return next((letter for letter, least in _CLASSES if known > least), "D")


_CLASSES: Final = (("A", 5.5), ("B", 4.0), ("C", 2.5))
