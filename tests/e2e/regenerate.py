"""Writes the transcripts anew: `python -m tests.e2e.regenerate [scene…]`."""

import asyncio
import shutil
import sys
import tempfile
import time
from pathlib import Path

from storage.embedded import EmbeddedPostgres
from tests.database import open_folder
from tests.e2e.moved import make_template
from tests.e2e.play import play
from tests.e2e.scene import scenes
from tests.e2e.test_scenes import GOLDEN


async def regenerate(postgres: EmbeddedPostgres, wanted: list[str]) -> int:
    """Play the wanted scenes, or all; a scene that fails its expectations is left alone."""
    await make_template(postgres)
    failed = 0
    for scene in scenes():
        if wanted and scene.name not in wanted:
            continue
        begun_s = time.perf_counter()
        try:
            with tempfile.TemporaryDirectory() as home:
                told = await play(scene, postgres, Path(home))
        except AssertionError as error:
            failed += 1
            print(f"{scene.name}: {error}\n", file=sys.stderr)
            continue
        (GOLDEN / f"{scene.name}.txt").write_text(told, encoding="utf-8")
        took_s = time.perf_counter() - begun_s
        print(f"{scene.name}: written after {took_s:.1f} s", file=sys.stderr)
    return failed


def main() -> None:
    """Run from the command line."""
    root = open_folder()
    server = EmbeddedPostgres(root, fast=True)
    try:
        raise SystemExit(asyncio.run(regenerate(server.start(), sys.argv[1:])))
    finally:
        server.stop()
        shutil.rmtree(root)


if __name__ == "__main__":
    main()
