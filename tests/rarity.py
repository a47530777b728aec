"""Writes the table of rarities from the corpus: `python -m tests.rarity`.

Another table makes another embedding: rename it in bot/backends/hashing.py with it.
"""

import json
import math
import zlib
from collections import Counter
from pathlib import Path

from engine.memory.features import features
from engine.memory.rarity import _TABLE, BUCKETS, STEPS, bucket, seed

MEMORY = Path(__file__).resolve().parents[2] / "shared" / "data" / "memory"
DOCUMENTS = ("runbooks", "alert_cards", "incidents")
SEEN = 4
"""Fewer texts than these are as good as none."""


def write() -> int:
    held: Counter[str] = Counter()
    texts = 0
    for name in DOCUMENTS:
        for line in (MEMORY / f"{name}.jsonl").read_text("utf-8").splitlines():
            held.update(features(json.loads(line)["text"]).keys())
            texts += 1
    most = [0] * BUCKETS
    for feature, count in held.items():
        if count >= SEEN:
            place = bucket(seed(feature))
            most[place] = max(most[place], count)
    rare = (math.log((texts + 1) / (count + 1)) if count else 0 for count in most)
    packed = bytes(
        min(255, max(1, round(r * STEPS))) if c else 0 for r, c in zip(rare, most, strict=False)
    )
    return _TABLE.write_bytes(zlib.compress(packed, 9))


if __name__ == "__main__":
    print(write(), "bytes")
