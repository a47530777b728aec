"""Pictures, drawn for real in their own process."""

import io
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image

from bot.backends.chart import ChartDrawer, NotDrawnError
from cards.chart import picture
from engine.model.chart import Line, Mark
from engine.model.pack import ChangeKind
from tests.charts import DEPLOY, ONSET, chart, curve, points

ODD = "$\\frac{1}{0}$ 🔥 שלום مرحبا 数据库 \x00\x1b[0m" + "_" * 300
PLOT = (160, 380, 1030, 700)


async def test_a_chart_is_a_png_of_a_phones_width_with_something_on_it(tmp_path: Path) -> None:
    lines = (
        Line(label=ODD, points=points(0.18, 2.4)),
        Line(label="a", points=points(1e-300, 1e300)[:3]),
        Line(label="b", points=points(0.0, 0.0)),
    )
    marks = (DEPLOY, Mark(at=ONSET, change=ChangeKind.CONFIG, component=ODD, what=ODD))
    told = picture(chart(rule=ODD, curve=curve(name="", lines=lines[:1] + lines[2:]), marks=marks))
    drawn = Image.open(io.BytesIO(await ChartDrawer(tmp_path).draw(told)))
    drawn.load()
    assert (drawn.format, drawn.size) == ("PNG", (1080, 810))
    colours = {colour for _, colour in drawn.convert("RGB").crop(PLOT).getcolors(1 << 20) or []}
    assert {(255, 255, 255), (11, 87, 208)} <= colours


async def test_a_drawing_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    with pytest.raises(NotDrawnError, match="not done"):
        await ChartDrawer(tmp_path, longest_s=0.05).draw(picture(chart()))


async def test_a_process_that_fails_says_why(tmp_path: Path) -> None:
    told = picture(chart()).model_copy(update={"lines": ()})
    with pytest.raises(NotDrawnError, match="ended with 1"):
        await ChartDrawer(tmp_path).draw(told)


def test_what_serves_never_loads_the_drawing_library() -> None:
    asked = "import sys, bot.serve, bot.cli.main; print({'matplotlib', 'numpy'} & {*sys.modules})"
    told = subprocess.run(
        [sys.executable, "-c", asked], capture_output=True, text=True, check=True, timeout=60
    )
    assert told.stdout.strip() == "set()"
