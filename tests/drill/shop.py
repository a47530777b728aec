"""The series of a small shop, planted into a metrics double."""

import math
from typing import Any

from bot.drill.doubles.prometheus import MetricsDouble


def points(value: Any, end: float, minutes: int = 60) -> list[tuple[float, float]]:
    ticks = range(minutes * 4 + 1)
    return [(end - (minutes * 4 - n) * 15, float(value(n))) for n in ticks]


def plant(double: MetricsDouble, end: float) -> list[tuple[str, dict[str, str], Any]]:
    """Plant a small shop: counters, gauges, a histogram, a counter reset, a series that ended."""
    planted: list[tuple[str, dict[str, str], Any]] = []
    for n, pod in enumerate(("a", "b", "c")):
        labels = {"job": "shop", "instance": f"{pod}:9100", "zone": "x" if n else "y"}
        planted += [
            ("up", labels, points(lambda t, n=n: int(n != 1 or t < 200), end)),
            (
                "http_requests_total",
                labels | {"code": "200"},
                points(lambda t, n=n: t * (n + 3), end),
            ),
            (
                "http_requests_total",
                labels | {"code": "500"},
                points(lambda t, n=n: (t % 97) * n, end),
            ),
            ("load", labels, points(lambda t, n=n: 3 + n + 2 * math.sin(t / 9 + n), end)),
        ]
        for bound, share in (("0.1", 4), ("0.5", 7), ("1", 9), ("+Inf", 10)):
            values = points(lambda t, n=n, s=share: t * s * (n + 1), end)
            planted.append(("latency_bucket", labels | {"le": bound}, values))
    planted.append(("owner", {"instance": "a:9100", "team": "red"}, points(lambda _: 1, end)))
    planted.append(("owner", {"instance": "b:9100", "team": "blue"}, points(lambda _: 1, end)))
    planted.append(("gone", {"job": "shop"}, points(lambda _: 1, end - 1200, 10)))
    for name, labels, source in planted:
        double.plant(name, labels, source)
    return planted
