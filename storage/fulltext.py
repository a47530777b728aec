"""Symptoms as PostgreSQL's full text sees them: lexemes weighted by how telling each word is."""

from collections import defaultdict
from itertools import islice
from typing import Final

from engine.memory.rarity import word_class
from engine.memory.words import words

WEIGHTS: Final = "{0.15, 0.4, 0.7, 1.0}"
"""What a lexeme of class D, C, B and A counts."""
BY_LENGTH: Final = 1
"""`ts_rank` divides by the logarithm of the document's length."""
_MOST_PLACES = 16_000
_MOST_ASKED = 300


def as_tsvector(text: str) -> str:
    """Write a symptom's words as a tsvector; they are letters and digits and need no escapes."""
    places: defaultdict[str, list[str]] = defaultdict(list)
    for place, word in enumerate(islice(words(text), _MOST_PLACES), start=1):
        places[word].append(f"{place}{word_class(word)}")
    return " ".join(f"'{word}':{','.join(at[:200])}" for word, at in places.items())


def as_tsquery(text: str) -> str:
    """Ask for any of a text's words."""
    asked = dict.fromkeys(words(text))
    return " | ".join(f"'{word}'" for word in islice(asked, _MOST_ASKED))
