"""An expression taken apart by more labels asks the same of each part."""

import pytest

from engine.promql.split import split_by


@pytest.mark.parametrize(
    ("expr", "split"),
    [
        ("sum(rate(x[5m])) > 5", "sum by (version) (rate(x[5m]))"),
        ("sum by (ns) (rate(x[5m])) > 5", "sum by (ns, version) (rate(x[5m]))"),
        ("sum(rate(x[5m])) by (ns)", "sum(rate(x[5m])) by (ns, version)"),
        ("sum by () (x)", "sum by (version) (x)"),
        ("sum by (version) (x)", "sum by (version) (x)"),
        ("sum without (pod) (x)", "sum without (pod) (x)"),
        (
            'sum(rate(e{c="5"}[5m])) / sum(rate(x[5m])) > 0.05',
            'sum by (version) (rate(e{c="5"}[5m])) / sum by (version) (rate(x[5m]))',
        ),
        (
            "sum by (a) (x) / on (a) sum by (a) (y)",
            "sum by (a, version) (x) / on (a, version) sum by (a, version) (y)",
        ),
        (
            "histogram_quantile(0.9, sum by (le) (rate(x_bucket[5m]))) > 1",
            "histogram_quantile(0.9, sum by (le, version) (rate(x_bucket[5m])))",
        ),
        ("topk(3, sum by (ns) (x)) > 1", "topk(3, sum by (ns, version) (x))"),
        ("queue_depth > 100", "queue_depth"),
        ("absent(up)", None),
        ("sum(x", None),
        ("scalar(sum(x)) > 1", None),
    ],
)
def test_every_group_is_grouped_once_more(expr: str, split: str | None) -> None:
    found = split_by(expr, ["version"])
    assert (found and " ".join(found.split())) == split
