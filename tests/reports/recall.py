"""What memory finds on the corpus: vectors and words together, beside BM25 alone."""

import json
import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from bot.cli.try_recall import run_recall
from engine.memory.words import words

MEMORY = Path(__file__).resolve().parents[3] / "shared" / "data" / "memory"
FLOORS = {"T1": 0.91, "T2": 0.82, "T3": 0.84, "T4": 0.99}
"""Least recall@1: name and text to runbook, text alone to runbook, another author's alert to the
alert on the same metrics, the same alert with other labels to the stored incident."""
CORPORA = {"runbooks": ("T1", "T2"), "alert_cards": ("T3",), "incidents": ("T4",)}
Ranked = Mapping[str, Sequence[str]]


class Found(NamedTuple):
    """Shares of queries whose answer came first, and among the first five."""

    queries: int
    first: float
    five: float


class Row(NamedTuple):
    """One task."""

    task: str
    ours: Found
    bm25: Found


def read(folder: Path, name: str) -> list[dict[str, Any]]:
    lines = (folder / f"{name}.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]


async def measured(folder: Path, corpora: Sequence[str]) -> list[Row]:
    """Rank every query of the corpora's tasks."""
    asked = read(folder, "queries")
    rows = []
    for name in corpora:
        documents = {one["doc_id"]: one["text"] for one in read(folder, name)}
        wanted = [q for task in CORPORA[name] for q in asked if q["task"].startswith(task)]
        texts = {q["id"]: q["query"] for q in wanted}
        told = [json.loads(line) async for line in run_recall(documents, texts)]
        ours = {one["id"]: one["ranked"] for one in told}
        plain = dict(bm25(documents, texts))
        for task in CORPORA[name]:
            own = [q for q in wanted if q["task"].startswith(task)]
            rows.append(Row(task, _found(own, ours), _found(own, plain)))
    return rows


def _found(queries: Sequence[Mapping[str, Any]], ranked: Ranked) -> Found:
    def share(most: int) -> float:
        hits = [bool(set(ranked[q["id"]][:most]) & set(q["gold"])) for q in queries]
        return sum(hits) / len(hits)

    return Found(len(queries), share(1), share(5))


def bm25(
    documents: Mapping[str, str], queries: Mapping[str, str]
) -> Iterator[tuple[str, list[str]]]:
    """Rank by words alone, as most search engines do (k1 1.2, b 0.75)."""
    counts = {name: Counter(words(text)) for name, text in documents.items()}
    lengths = {name: count.total() for name, count in counts.items()}
    mean = sum(lengths.values()) / len(lengths)
    holding: defaultdict[str, list[str]] = defaultdict(list)
    for name, count in counts.items():
        for word in count:
            holding[word].append(name)
    for asked, text in queries.items():
        score: Counter[str] = Counter()
        for word in set(words(text)):
            held = len(holding[word])
            rare = math.log(1 + (len(counts) - held + 0.5) / (held + 0.5))
            for name in holding[word]:
                times = counts[name][word]
                norm = 1.2 * (0.25 + 0.75 * lengths[name] / mean)
                score[name] += rare * times * 2.2 / (times + norm)
        yield asked, [name for name, _ in score.most_common(5)]


def report(rows: Sequence[Row]) -> Iterator[str]:
    """A table."""
    yield "| task | queries | recall@1 | @5 | BM25 alone @1 | @5 | floor @1 |"
    yield "|---|---|---|---|---|---|---|"
    for task, ours, plain in rows:
        shown = f"{ours.first:.3f} | {ours.five:.3f} | {plain.first:.3f} | {plain.five:.3f}"
        yield f"| {task} | {ours.queries} | {shown} | {FLOORS[task]} |"
