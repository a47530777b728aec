"""A PNG of a chart, drawn in a process of its own: bounded in time, memory and processor."""

import asyncio
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Awaitable, Callable
from pathlib import Path

from cards.chart import Picture

LONGEST_S = 40.0
MOST_PNG = 2_000_000
MOST_SAID = 400
PNG = b"\x89PNG\r\n\x1a\n"
_DRAWING = Path(__file__).with_name("chart_drawing.py")


class NotDrawnError(Exception):
    """A picture could not be drawn."""


Draw = Callable[[Picture], Awaitable[bytes]]
"""Gives the PNG of a picture.

Raises:
    NotDrawnError: it could not be drawn.
"""


class ChartDrawer:
    """Draws one picture at a time, so that the machine has a core left for alerts."""

    def __init__(self, folder: Path, longest_s: float = LONGEST_S) -> None:
        """Keep the library's own files in `folder`; give a picture `longest_s`."""
        self._folder = folder
        self._longest_s = longest_s
        self._one = asyncio.Lock()

    async def draw(self, picture: Picture) -> bytes:
        """Draw a picture.

        Raises:
            NotDrawnError: the process failed, took too long or gave no PNG.
        """
        async with self._one:
            try:
                process = await self._started()
            except OSError as error:
                raise NotDrawnError(type(error).__name__) from error
            try:
                async with asyncio.timeout(self._longest_s):
                    png, said = await process.communicate(picture.canonical().encode())
            except TimeoutError as error:
                raise NotDrawnError(f"not done in {self._longest_s:.0f} s") from error
            finally:
                await _ended(process)
        if process.returncode or not png.startswith(PNG) or len(png) > MOST_PNG:
            last = said.decode("utf-8", "replace").strip()[-MOST_SAID:]
            raise NotDrawnError(f"ended with {process.returncode}: {last}")
        return png

    async def _started(self) -> Process:
        """Start the process with nothing of our environment; it cannot see our secrets."""
        given = {
            "MPLCONFIGDIR": str(self._folder),
            "HOME": str(self._folder),
            "OPENBLAS_NUM_THREADS": "1",
            "OMP_NUM_THREADS": "1",
            "LC_ALL": "C.UTF-8",
        }
        self._folder.mkdir(parents=True, exist_ok=True)
        return await asyncio.create_subprocess_exec(
            sys.executable, "-I", str(_DRAWING), stdin=PIPE, stdout=PIPE, stderr=PIPE, env=given
        )


async def _ended(process: Process) -> None:
    """Leave no process behind, whatever became of the picture."""
    if process.returncode is None:
        process.kill()
        await process.wait()
