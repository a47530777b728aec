from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest

from engine.model.pack import OnsetSource
from engine.onset import Onset, change_point, onset

FIRED = datetime(2026, 3, 1, 3, 0, tzinfo=UTC)
STEP_S = 15


def points(values: Sequence[float]) -> list[tuple[float, float]]:
    """Place the values before firing so that the last 16 are after it."""
    start = FIRED.timestamp() - STEP_S * (len(values) - 16)
    return [(start + STEP_S * n, value) for n, value in enumerate(values)]


FLAT = [0.01] * 240
STEP = [0.01] * 164 + [0.3] * 76
RAMP = [0.01] * 164 + [0.01 + 0.004 * n for n in range(76)]
FALL = [100.0] * 164 + [3.0] * 76
SPIKE = [0.01] * 100 + [0.9] * 3 + [0.01] * 137
SPIKE_AND_STEP = [0.01] * 120 + [0.9] * 3 + [0.01] * 41 + [0.3] * 76
NOISE = [0.1 + 0.08 * ((n * 7919) % 13 - 6) / 6 for n in range(240)]
NOISY_STEP = [v if n < 164 else v + 2 for n, v in enumerate(NOISE)]


@pytest.mark.parametrize(
    ("values", "departs_at"),
    [
        (FLAT, None), (STEP, 164), (RAMP, 168), (FALL, 164), (SPIKE, None),
        (SPIKE_AND_STEP, 164), (NOISE, None), (NOISY_STEP, 164), ([0.3] * 5, None),
    ],
)  # fmt: skip
def test_a_change_point_is_the_first_departure_that_lasts(
    values: Sequence[float], departs_at: int | None
) -> None:
    given = points(values)
    found = change_point(given, FIRED.timestamp())
    expected = None if departs_at is None else given[departs_at][0]
    assert (found is None) == (expected is None)
    if found is not None and expected is not None:
        assert abs(found - expected) <= 4 * STEP_S


def test_onset_is_the_change_point_where_the_series_shows_one() -> None:
    given = points(STEP)
    expected = datetime.fromtimestamp(given[164][0], UTC)
    told = onset(given, active_at=FIRED - timedelta(minutes=2), fired_at=FIRED)
    assert told == Onset(expected, OnsetSource.CHANGE_POINT)
    assert told.at < FIRED - timedelta(minutes=10)


@pytest.mark.parametrize("values", [FLAT, NOISE, []])
def test_without_a_change_point_onset_is_when_the_rule_turned_true_then_when_it_fired(
    values: Sequence[float],
) -> None:
    active_at = FIRED - timedelta(minutes=15)
    given = points(values) if values else []
    assert onset(given, active_at=active_at, fired_at=FIRED) == Onset(active_at, OnsetSource.ACTIVE)
    assert onset(given, active_at=None, fired_at=FIRED) == Onset(FIRED, OnsetSource.FIRED)


def test_onset_is_never_after_firing() -> None:
    late = points([0.01] * 232 + [0.3] * 8)
    assert onset(late, active_at=None, fired_at=FIRED) == Onset(FIRED, OnsetSource.FIRED)
    assert onset([], active_at=FIRED + timedelta(minutes=1), fired_at=FIRED).at == FIRED
