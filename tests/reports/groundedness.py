"""Prints how well indicators are found and how far the floor tells true verdicts from false ones.

Run: python -m tests.reports.groundedness [FOLDER]; the folder holds indicators/ and rca/.
"""

import json
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from engine.groundedness.extract import indicators
from engine.groundedness.score import demotes, score
from engine.model.policy import GroundednessRule

DEFAULT = Path(__file__).resolve().parents[3] / "shared" / "data"
RULE = GroundednessRule()
Change = Callable[[str], str]


@dataclass(frozen=True)
class Case:
    """A verdict's claims and all that was known."""

    suite: str
    claims: Sequence[str]
    evidence: Sequence[str]


def cases(folder: Path) -> Iterator[Case]:
    for file in sorted((folder / "rca/opensre_synthetic").glob("*.json")):
        said = json.loads(file.read_text(encoding="utf-8"))
        evidence = [said["alert"], *said["evidence"].values()]
        claims = [claim["claim"] for claim in said["reference_claims"]]
        texts = [json.dumps(part, ensure_ascii=False) for part in evidence]
        yield Case(said["id"].partition("/")[0], claims, texts)


def true(text: str) -> str:
    return text


def other_figures(text: str) -> str:
    return re.sub(r"\d", lambda digit: str((int(digit[0]) * 7 + 3) % 10), text)


def other_names(text: str) -> str:
    changed = re.sub(r"\b([A-Z][a-z]+)([A-Z])", r"\1Un\2", text)
    return re.sub(r"\b([a-z]+)-([a-z0-9-]+)\b", r"\1q-\2", changed)


def other_everything(text: str) -> str:
    return other_names(other_figures(text))


def marked(folder: Path) -> Iterator[str]:
    """Say recall and precision over the sentences marked by hand, in all and by kind."""
    count: Counter[str] = Counter()
    missed: Counter[str] = Counter()
    extra: Counter[str] = Counter()
    with (folder / "indicators/sentences_gold.jsonl").open(encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            gold = {(mark["type"], mark["value"]) for mark in row["gold"]}
            known = [value for kind, value in gold if kind in {"ns", "svc"}]
            seen = {(one.kind.value, one.text) for one in indicators(row["text"], known)}
            count.update(hit=len(gold & seen), missed=len(gold - seen), extra=len(seen - gold))
            missed.update(kind for kind, _ in gold - seen)
            extra.update(kind for kind, _ in seen - gold)
    hit = count["hit"]
    yield (
        f"indicators: recall {hit / (hit + count['missed']):.3f}, "
        f"precision {hit / (hit + count['extra']):.3f} of {hit + count['missed']} marked"
    )
    yield f"  missed {dict(missed)}, extra {dict(extra)}"


def floor(all_cases: Sequence[Case], change: Change) -> str:
    """Say how verdicts fare, as they are or made false."""
    results = [score([change(c) for c in case.claims], case.evidence) for case in all_cases]
    scores = [result.score for result in results if result.score is not None]
    demoted = sum(demotes(result, RULE) for result in results)
    name = change.__name__.replace("_", " ")
    spread = f"mean {fmean(scores):.2f}, {min(scores):.2f} to {max(scores):.2f}"
    return f"{name:<17} {spread}; demoted {demoted} of {len(results)}"


def siblings(all_cases: Sequence[Case]) -> str:
    """Say how verdicts fare against the evidence of the suite's other incidents."""
    pairs = [(a, b) for a in all_cases for b in all_cases if a is not b and a.suite == b.suite]
    results = [score(a.claims, b.evidence) for a, b in pairs]
    demoted = sum(demotes(result, RULE) for result in results)
    mean = fmean(result.score or 0 for result in results)
    return f"{'other incident':<17} mean {mean:.2f}; demoted {demoted} of {len(results)}"


def speed(all_cases: Sequence[Case]) -> str:
    text = "\n".join(part for case in all_cases for part in case.evidence)
    began = time.process_time()
    found = len(indicators(text))
    took_s = time.process_time() - began
    return f"speed: {len(text) / 1e6 / took_s:.1f} MB/s of evidence, {found} indicators"


def main() -> None:
    """Print the figures."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else DEFAULT
    all_cases = list(cases(folder))
    changes = (true, other_figures, other_names, other_everything)
    for line in (
        *marked(folder),
        *(floor(all_cases, change) for change in changes),
        siblings(all_cases),
        speed(all_cases),
    ):
        print(line)


if __name__ == "__main__":
    main()
