"""Charts as tests need them."""

from datetime import UTC, datetime, timedelta
from typing import Any

from engine.model.chart import Chart, Curve, Line, Mark
from engine.model.pack import ChangeKind

NOW = datetime(2026, 12, 1, 3, 0, tzinfo=UTC)
ONSET = NOW - timedelta(minutes=15)
EXPRESSION = (
    "histogram_quantile(0.99, sum by (le) (rate(http_request_duration_seconds_bucket"
    '{service="checkout"}[5m])))'
)


def points(normal: float, after: float, *, minutes: int = 120) -> tuple[tuple[float, float], ...]:
    """Two hours of a minute each: steady, with a little noise, then another level."""
    start = NOW - timedelta(minutes=minutes)
    times = [start + timedelta(minutes=n) for n in range(minutes + 1)]
    shake = [0.97, 1.0, 1.04, 0.99, 1.02]
    return tuple(
        (at.timestamp(), (normal if at < ONSET else after) * shake[n % len(shake)])
        for n, at in enumerate(times)
    )


def curve(**changed: Any) -> Curve:
    given: dict[str, Any] = {
        "name": "p99 of http_request_duration",
        "expression": EXPRESSION,
        "unit": "s",
        "own": True,
        "lines": (Line(points=points(0.18, 2.4)),),
        "threshold": 1.0,
        "before": 0.18,
    }
    return Curve.model_validate(given | changed)


DEPLOY = Mark(
    at=ONSET - timedelta(minutes=4), change=ChangeKind.DEPLOY, component="checkout", what="v2.41.0"
)


def chart(**changed: Any) -> Chart:
    given: dict[str, Any] = {
        "incident_id": "i1",
        "client_id": "default",
        "rule": "CheckoutSlow",
        "service": "checkout",
        "curve": curve(),
        "onset_at": ONSET,
        "onset_seen": True,
        "fired_at": ONSET + timedelta(minutes=4),
        "taken_at": NOW,
        "marks": (DEPLOY,),
    }
    return Chart.model_validate(given | changed)


def leaking() -> Chart:
    """Two pods, one that fills its memory since a change of its settings."""
    change = Mark(
        at=NOW - timedelta(minutes=52), change=ChangeKind.CONFIG, component="cart", what="cache 2g"
    )
    grown = [
        (at, 4.1e8 + max(0, at - change.at.timestamp()) * 1.05e6 / 2) for at, _ in points(1, 1)
    ]
    steady = [(at, 4.0e8 + value * 1e7) for at, value in points(1, 1.1)]
    lines = (Line(label="pod=cart-7d9-x2x", points=tuple(grown)),
             Line(label="pod=cart-7d9-k4f", points=tuple(steady)))  # fmt: skip
    shown = curve(
        name="memory of the working set", unit="B", own=False, threshold=2 * 1024**3, before=4.1e8,
        expression="max by (pod) (container_memory_working_set_bytes)", lines=lines,
    )  # fmt: skip
    return chart(
        rule="CartMemoryHigh", service="cart", curve=shown, marks=(change,),
        onset_at=NOW - timedelta(minutes=50), fired_at=NOW - timedelta(minutes=12),
    )  # fmt: skip


CHARTS = {"deploy": chart(), "memory": leaking()}
