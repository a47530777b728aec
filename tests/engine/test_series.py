import pytest

from engine.model.evidence import Series
from engine.series import SPARKLINE_WIDTH, baseline, sparkline, summarise


def series(*values: float) -> Series:
    return Series(points=tuple((60.0 * n, value) for n, value in enumerate(values)))


def test_a_summary_compares_what_is_since_onset_with_what_was_before() -> None:
    given = summarise(series(3, 3, 4, 3, 20, 20), onset_s=240, baseline_s=240)
    assert (given.minimum, given.maximum, given.last, given.baseline) == (3, 20, 20, 3)
    assert given.deviation is not None
    assert given.deviation > 10


def test_without_points_before_onset_nothing_is_normal() -> None:
    given = summarise(series(20, 20), onset_s=0, baseline_s=600)
    assert (given.baseline, given.deviation) == (None, None)


def test_only_the_stretch_before_onset_is_normal() -> None:
    given = summarise(series(9, 9, 9, 3, 3, 20), onset_s=300, baseline_s=120)
    assert given.baseline == 3


@pytest.mark.parametrize(
    ("normal", "value", "moved"),
    [
        ([0.0, 0.0, 0.0], 6.0, True),
        ([100.0, 100.0, 100.0], 103.0, False),
        ([100.0, 100.0, 100.0], 40.0, True),
        ([10.0, 90.0, 50.0, 20.0, 80.0], 95.0, False),
        ([0.0, 0.0], 0.0, False),
    ],
)
def test_a_quiet_baseline_does_not_make_a_trifle_a_deviation(
    normal: list[float], value: float, *, moved: bool
) -> None:
    assert (abs(baseline(normal, [value]).deviation(value)) >= 4) is moved


@pytest.mark.parametrize(
    ("values", "drawn"),
    [([1.0], "▁"), ([5, 5, 5], "▁▁▁"), ([0, 7], "▁█"), ([0, 1, 2, 3, 4, 5, 6, 7], "▁▂▃▄▅▆▇█")],
)
def test_a_sparkline_has_eight_levels(values: list[float], drawn: str) -> None:
    assert sparkline(values) == drawn


def test_a_long_series_keeps_its_peak_in_a_short_sparkline() -> None:
    drawn = sparkline([0.0] * 500 + [9.0] + [0.0] * 500)
    assert len(drawn) == SPARKLINE_WIDTH
    assert drawn.count("█") == 1
