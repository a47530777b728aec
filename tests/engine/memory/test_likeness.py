"""Texts as vectors: the same failure told of another pod is near, another failure is far."""

import hashlib
import math

import pytest

from bot.backends.hashing import DIMENSIONS, HashedWords
from engine.memory.features import hashed
from engine.memory.rarity import table, word_class
from engine.memory.words import words
from storage.fulltext import as_tsquery, as_tsvector

FULL = (
    "KubePersistentVolumeFillingUp namespace=shop The volume of db-3 at 10.1.2.3:9100 is 93% full"
)


def distance(one: str, other: str) -> float:
    pairs = zip(hashed(one, DIMENSIONS), hashed(other, DIMENSIONS), strict=True)
    return 1 - sum(a * b for a, b in pairs)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("KubePodCrashLooping", "kube pod crash looping kubepodcrashlooping"),
        ("pod web-12 at 10.0.0.7:9100 is down", "pod at is down"),
        ("see https://runbooks.example/x/y now", "see now"),
        ("5xx and 404 after 30m", "5xx and after"),
        ("commit 9fceb02d0ae598e9 on /dev/sda1", "commit on"),
        ("Überlauf der Größe", "überlauf der größe"),
        ("' ; \\ | & !", ""),
    ],
)
def test_only_what_would_be_said_again_is_a_word(text: str, told: str) -> None:
    assert " ".join(words(text)) == told


def test_the_same_failure_elsewhere_is_nearer_than_another_failure_here() -> None:
    elsewhere = FULL.replace("db-3", "db-9").replace("10.1.2.3", "10.9.9.9").replace("93%", "97%")
    another = "KubePodCrashLooping namespace=shop The pod db-3 at 10.1.2.3:9100 restarts"
    assert distance(FULL, elsewhere) < 0.01
    assert distance(FULL, another) > 0.5


async def test_a_vector_has_length_one_and_a_text_without_words_none() -> None:
    vector = await HashedWords().embed(FULL)
    assert (len(vector), round(math.hypot(*vector), 9)) == (1536, 1)
    assert not any(await HashedWords().embed("10.0.0.1 ... 17"))


def test_another_table_or_weight_needs_another_name() -> None:
    """Vectors are kept: what makes them may change only together with the name."""
    vector = ",".join(f"{value:.4f}" for value in hashed(FULL, DIMENSIONS))
    held = hashlib.sha256(table() + vector.encode()).hexdigest()[:12]
    assert (HashedWords.name, held) == ("hashed-words-1", "04375d517655")


def test_full_text_weighs_a_word_by_how_telling_it_is() -> None:
    assert (word_class("the"), word_class("zookeeper")) == ("D", "B")
    assert as_tsvector("the zookeeper the") == "'the':1D,3D 'zookeeper':2B"
    assert as_tsquery("the zookeeper the") == "'the' | 'zookeeper'"
