"""What a text is compared by: its words, pairs of them, whole names and pieces of words."""

import math
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from engine.memory.rarity import rarity, seed
from engine.memory.words import joined, tokens

_PIECES: Final = (3, 4, 5)
"""Lengths of the pieces of a word, characters."""
_WEIGHT: Final = {"n": 2.0, "w": 1.0, "b": 1.1, "c": 0.5}
"""A name of several parts, a word, a pair of words, a piece of a word."""


def features(text: str) -> Counter[str]:
    """Count every feature; the first letter says of which kind it is."""
    named = list(tokens(text))
    flat = [word for parts in named for word in parts]
    counted = Counter(f"n{joined(parts)}" for parts in named if len(parts) > 1)
    counted.update(f"w{word}" for word in flat)
    counted.update(f"b{one} {other}" for one, other in pairwise(flat))
    for word, count in Counter(flat).items():
        for piece in _pieces(word):
            counted[piece] += count
    return counted


def _pieces(word: str) -> Iterator[str]:
    framed = f"^{word}$"
    for length in _PIECES:
        for start in range(len(framed) - length + 1):
            yield f"c{framed[start : start + length]}"


def hashed(text: str, dimensions: int) -> list[float]:
    """The text as a vector of length 1; all zeros where it holds no word."""
    vector = [0.0] * dimensions
    for feature, count in features(text).items():
        seeded = seed(feature)
        weight = _WEIGHT[feature[0]] * (1 + math.log(count)) * rarity(seeded)
        vector[seeded % dimensions] += weight if seeded >> 31 else -weight
    length = math.sqrt(sum(value * value for value in vector))
    return [value / length for value in vector] if length else vector
