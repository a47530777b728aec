"""Prints how often the ranking finds the true service on public failure data.

Run: python -m tests.reports.suspects [FOLDER]; the folder holds petshop/ and nezha/.
"""

import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from bot.evaluation.corpus import AT, FLOOR, Row, nezha_digests, petshop_digests
from engine.model.pack import (
    Anchor,
    Item,
    MetricDigest,
    OnsetSource,
    Section,
    SectionName,
    SectionStatus,
)
from engine.pack.suspects import rank

DEFAULT = Path(__file__).resolve().parents[3] / "shared" / "data" / "rca"
CUTS = (1, 3, 5)


@dataclass(frozen=True)
class Judged:
    """One case: who it was, and who was suspected, best first."""

    truth: str
    suspected: Sequence[str]


def anchor(service: str | None) -> Anchor:
    """Give an anchor on which a case is ranked; only its times and names matter."""
    return Anchor(
        incident_id="case", client_id="corpus", rule="case", severity="critical",
        alert_class="symptom", summary="", environment=None, service=service, host=None,
        grouping_key={} if service is None else {"service": service}, fired_at=AT, active_at=AT,
        onset_at=AT, onset_source=OnsetSource.FIRED, taken_at=AT,
    )  # fmt: skip


def judged(truth: str, service: str | None, digests: Sequence[MetricDigest]) -> Judged:
    """Rank one case as its pack would be."""
    items = tuple(
        Item(id=f"M{n}", text=digest.name, facts=digest) for n, digest in enumerate(digests, 1)
    )
    section = Section(name=SectionName.METRICS, status=SectionStatus.OK, items=items)
    suspects = rank(anchor(service), [section], floor=FLOOR)
    return Judged(truth, list(dict.fromkeys(s.component for s in suspects)))


def petshop(case: Row) -> Judged:
    """Read a PetShop issue."""
    return judged(case["ground_truth"]["service"], case["alert"]["service"], petshop_digests(case))


def nezha(case: Row) -> Judged:
    """Read a Nezha fault."""
    return judged(case["ground_truth"]["pod"], None, nezha_digests(case))


def loudest(case: Row, name: str) -> Judged:
    """Rank by the largest distance from normal, whatever it is: what there is to beat."""
    best: dict[str, float] = {}
    for seen in case["observations"]:
        if name == "pod":
            z = abs(seen["z"]) if seen["z"] is not None else 0.0
        else:
            spread = seen["normal_std"] or 1e-9
            values = [v for v in seen["window"] if v is not None]
            centre = seen["normal_mean"] or 0.0
            z = max((abs(v - centre) / spread for v in values), default=0.0)
        best[seen[name]] = max(z, best.get(seen[name], 0.0))
    truth = case["ground_truth"][name]
    return Judged(truth, sorted(best, key=lambda who: (-best[who], who)))


def recall(cases: Sequence[Judged], cut: int) -> float:
    """Share of cases whose truth is among the first `cut`."""
    return sum(case.truth in case.suspected[:cut] for case in cases) / len(cases)


def report(folder: Path) -> Iterator[str]:
    """Give one line a set and method."""
    for name, read, component in (("petshop", petshop, "service"), ("nezha", nezha, "pod")):
        files = [f for f in sorted((folder / name).glob("*.json")) if f.name[0] != "_"]
        cases = [json.loads(file.read_text()) for file in files]
        kinds = sorted({_kind(case) for case in cases})
        for kind in ["all", *kinds]:
            chosen = [case for case in cases if kind in ("all", _kind(case))]
            for method, ranked in (
                ("ranking", [read(case) for case in chosen]),
                ("loudest", [loudest(case, component) for case in chosen]),
            ):
                figures = " ".join(f"@{cut} {recall(ranked, cut):.2f}" for cut in CUTS)
                yield f"{name:8} {kind:16} n={len(chosen):<3} {method:8} {figures}"


def _kind(case: Row) -> str:
    return str(case["alert"].get("metric") or case["ground_truth"]["fault"])


if __name__ == "__main__":
    for line in report(Path(sys.argv[1]) if len(sys.argv) > 1 else DEFAULT):
        print(line)
