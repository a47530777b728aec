"""What is kept to draw."""

import math
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.charting import tells_more
from engine.model.chart import MOST_POINTS, Chart
from engine.pack.curve import quantile_name, thinned, unit_of_expression
from tests.charts import EXPRESSION, NOW, ONSET, chart

VALUES = st.floats(allow_nan=True, allow_infinity=True)
POINTS = st.lists(st.tuples(st.one_of(st.floats(0, 2e9), VALUES), VALUES), max_size=900)


@given(POINTS)
@settings(max_examples=80, deadline=None)
def test_any_series_is_thinned_to_finite_points_and_keeps_its_extremes(
    points: list[tuple[float, float]],
) -> None:
    points.sort(key=lambda p: (math.isnan(p[0]), p[0]))
    thin = thinned(points)
    real = [v for at, v in points if 0 <= at < 2**32 and math.isfinite(v)]
    assert len(thin) <= MOST_POINTS
    assert set(thin) <= set(points)
    assert [at for at, _ in thin] == sorted(at for at, _ in thin)
    if real:
        assert {min(real), max(real)} <= {v for _, v in thin}


NAMES = [
    (EXPRESSION, "p99 of http_request_duration", "s"),
    ("histogram_quantile(.999, rate(rpc_bucket[1m]))", "p999 of rpc", ""),
    ("histogram_quantile(0.5, rate(rpc_seconds_bucket[1m]))", "p50 of rpc", "s"),
    ('sum(rate(h_total{code=~"5.."}[5m])) / sum(rate(h_total[5m]))', "", "ratio"),
    ("rate(t_seconds_sum[5m]) / rate(t_seconds_count[5m])", "", "s"),
    ("rate(a_total[5m]) / rate(b_total[5m])", "", ""),
    ("100 * rate(a_total[5m]) / rate(a_total[5m])", "", ""),
    ('node_filesystem_avail_bytes{mountpoint="/"}', "", "B"),
    ("rate(node_network_receive_bytes_total[5m])", "", ""),
    ("up", "", ""),
    ("", "", ""),
]  # fmt: skip


@pytest.mark.parametrize(("expression", "name", "unit"), NAMES)
def test_a_name_and_a_unit_are_given_only_where_they_are_certain(
    expression: str, name: str, unit: str
) -> None:
    assert (quantile_name(expression), unit_of_expression(expression)) == (name, unit)


LATER = [
    (chart(), None, True),
    (chart(), chart(), False),
    (chart(taken_at=NOW + timedelta(minutes=14)), chart(), False),
    (chart(taken_at=NOW + timedelta(minutes=15)), chart(), True),
    (chart(marks=()), chart(), True),
    (chart(onset_at=ONSET + timedelta(minutes=2)), chart(), True),
    (chart(onset_at=ONSET + timedelta(seconds=20)), chart(), False),
]


@pytest.mark.parametrize(("newer", "older", "worth"), LATER)
def test_a_chart_is_drawn_again_only_when_it_tells_more(
    newer: Chart, older: Chart | None, worth: bool
) -> None:
    assert tells_more(newer, older) is worth
