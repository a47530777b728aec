"""What a chart says to who cannot see it."""

from datetime import timedelta

import pytest

from cards.chart import MOST_ALT, Scale, Sign, alt_text, picture, scale
from engine.model.chart import Chart, Line, Mark
from engine.model.pack import ChangeKind
from tests.charts import DEPLOY, NOW, ONSET, chart, curve, points

FLAT = ONSET.timestamp()
BACK = tuple((at, 0.18 if at > FLAT + 300 else v) for at, v in points(0.18, 2.4))
RESTART = Mark(
    at=ONSET - timedelta(minutes=1), change=ChangeKind.RESTART, component="db-1", what="restarted"
)
P99 = "p99 of http_request_duration of checkout 180 ms → 2.5 s from 02:45"
SAID: list[tuple[Chart, str]] = [
    (chart(), f"{P99}; deploy checkout v2.41.0 at 02:41; alert at 02:49; threshold 1 s (UTC)"),
    (
        chart(curve=curve(lines=(Line(points=BACK),))),
        f"{P99}, now 180 ms; deploy checkout v2.41.0 at 02:41; alert at 02:49; threshold 1 s (UTC)",
    ),
    (
        chart(marks=(), curve=curve(before=None, threshold=None)),
        "p99 of http_request_duration of checkout 2.33 s now; alert at 02:49 (UTC)",
    ),
    (
        chart(marks=(), service=None, onset_seen=False, curve=curve(name="", unit="ratio",
              threshold=0.05, before=0.01, lines=(Line(points=points(0.01, 0.31)),))),
        "The value behind CheckoutSlow 1% → 32% when it fired, 02:45; threshold 5% (UTC)",
    ),
    (
        chart(marks=(DEPLOY, RESTART), curve=curve(own=False, threshold=None,
              lines=(Line(label="pod=a", points=points(0.18, 2.4)),
                     Line(label="pod=b", points=points(0.1, 0.1))))),
        (f"{P99}; deploy checkout v2.41.0 at 02:41; restart db-1 restarted at 02:44; "
         "alert at 02:49; 1 more line in the picture (UTC)"),
    ),
]  # fmt: skip


@pytest.mark.parametrize(("shown", "said"), SAID, ids=range(len(SAID)))
def test_the_text_says_what_the_curve_shows(shown: Chart, said: str) -> None:
    assert alt_text(shown) == said


def test_what_comes_from_outside_is_cut_and_made_inert() -> None:
    odd = "<!channel>\x00\x1b[31m \u202e🔥 $\\frac{1}{2}$ " + "x" * 10_000
    marks = (Mark(at=ONSET, change=ChangeKind.OTHER, component=odd, what=odd),)
    shown = chart(rule=odd, service=odd, curve=curve(name="", expression=odd), marks=marks)
    told = picture(shown)
    said = [alt_text(shown), told.title, told.said, told.expression, told.uprights[0].text]
    assert max(map(len, said)) <= MOST_ALT
    assert not set("\x00\x1b\u202e") & set("".join(said))


def test_an_onset_that_only_repeats_the_alert_is_not_drawn_twice() -> None:
    signs = [one.sign for one in picture(chart(onset_seen=False)).uprights]
    assert signs == [Sign.CHANGE, Sign.ALERT]


def test_the_axis_names_its_zone() -> None:
    assert picture(chart()).axis == f"time in UTC, {NOW:%d %b %Y}"


SCALES = [
    ("s", [0.2], Scale(divisor=1e-3, unit=" ms")), ("s", [2.0], Scale(unit=" s")),
    ("ratio", [0.3], Scale(divisor=0.01, unit="%")), ("", [5], Scale()),
    ("/s", [5], Scale(unit="/s")),
    ("B", [3e9], Scale(divisor=1024**3, unit=" GiB")), ("B", [0.0], Scale(unit=" B")),
    ("B", [float("inf")], Scale(unit=" B")), ("s", [], Scale(unit=" s")),
]  # fmt: skip


@pytest.mark.parametrize(("unit", "values", "chosen"), SCALES)
def test_an_axis_reads_in_units_people_say(unit: str, values: list[float], chosen: Scale) -> None:
    assert scale(unit, values) == chosen
