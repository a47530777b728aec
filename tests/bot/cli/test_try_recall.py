"""`caveat try recall` and what it finds on the corpus."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from bot.cli.errors import CommandError
from bot.cli.try_recall import read
from tests.reports.recall import FLOORS, measured

BIN = Path(sys.executable).parent / "caveat"


def test_documents_are_ranked_for_each_query(tmp_path: Path) -> None:
    corpus = tmp_path / "corpus.jsonl"
    told = {"disk": "The disk of the database is full", "dns": "Names do not resolve", "?": ""}
    lines = [json.dumps({"id": name, "text": text}) for name, text in told.items()]
    corpus.write_text("\n".join(lines))
    asked = '{"id": "q1", "text": "DNS: a name does not resolve"}\n\n{"id": 2, "text": "disk full"}'
    done = subprocess.run(
        [BIN, "try", "recall", "--corpus", corpus],
        input=asked, capture_output=True, text=True, check=True,
    )  # fmt: skip
    first, second = map(json.loads, done.stdout.splitlines())
    assert (first["id"], first["ranked"][0]) == ("q1", "dns")
    assert (second["id"], second["ranked"][0]) == ("2", "disk")


@pytest.mark.parametrize("line", ["no JSON", "[]", '{"id": "a"}', "7"])
def test_a_line_that_cannot_be_read_is_named(line: str) -> None:
    with pytest.raises(CommandError, match="line 2"):
        read(['{"id": "a", "text": "b"}', line])


@pytest.mark.corpus
@pytest.mark.timeout(300)
@pytest.mark.parametrize("corpus", ["runbooks"])  # all of them: make eval
async def test_memory_finds_what_it_must_and_no_less_than_words_alone(
    shared: Path, corpus: str
) -> None:
    for row in await measured(shared / "data" / "memory", [corpus]):
        assert row.ours.first >= FLOORS[row.task], row
        assert row.ours.first >= row.bm25.first, row
        assert row.ours.five >= 0.92, row
