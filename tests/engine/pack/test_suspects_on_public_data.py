import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.reports.suspects import Judged, Row, loudest, nezha, petshop, recall

pytestmark = pytest.mark.corpus


def cases(shared: Path, name: str) -> list[Row]:
    files = sorted((shared / "data" / "rca" / name).glob("[!_]*.json"))
    return [json.loads(file.read_text()) for file in files]


@pytest.mark.parametrize(
    ("name", "read", "component", "cut", "least"),
    [("petshop", petshop, "service", 5, 0.6), ("nezha", nezha, "pod", 3, 0.25)],
)
def test_the_ranking_beats_the_loudest_metric(
    shared: Path, name: str, read: Callable[[Row], Judged], component: str, cut: int, least: float
) -> None:
    given = cases(shared, name)
    ours = recall([read(case) for case in given], cut)
    assert ours >= recall([loudest(case, component) for case in given], cut)
    assert ours >= least
