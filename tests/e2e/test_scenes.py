"""Every scene, played over the whole product, against its expectations and its transcript."""

from pathlib import Path

import pytest

from storage.embedded import EmbeddedPostgres
from tests.e2e.play import play
from tests.e2e.scene import Scene, scenes

GOLDEN = Path(__file__).parent / "golden"


@pytest.mark.parametrize(
    "scene",
    [
        pytest.param(scene, id=scene.name, marks=pytest.mark.proves(*scene.proves))
        for scene in scenes()
    ],
)
async def test_a_scene_ends_as_it_must(
    scene: Scene, playhouse: EmbeddedPostgres, tmp_path: Path
) -> None:
    told = await play(scene, playhouse, tmp_path)
    golden = GOLDEN / f"{scene.name}.txt"
    assert told == golden.read_text("utf-8"), "python -m tests.e2e.regenerate writes it anew"
