"""A small shop as metrics: a few services, healthy until something is done to one of them."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from bot.drill.doubles.prometheus import MetricsDouble
from bot.drill.scenario import Stage

PODS = 3
BOUNDS = (0.1, 0.25, 0.5, 1.0, 2.5, 5.0)
Level = Callable[[float], float]
"""Value at a unix time."""


def steady(value: float) -> Level:
    """The same value always, but for a gentle sway as real ones have."""
    return lambda at: value * (1 + 0.02 * math.sin(at / 47))


def step(before: float, after: float, at_s: float) -> Level:
    """One value until a moment, another from then on."""
    return lambda at: steady(after if at >= at_s else before)(at)


@dataclass(frozen=True)
class ServiceLoad:
    """How a service does."""

    name: str
    rate: float = 40
    """Requests per second over all its pods."""
    errors: Level = field(default_factory=lambda: steady(0.001))
    """Share of requests that fail."""
    latency_s: Level = field(default_factory=lambda: steady(0.12))
    pool: Level = field(default_factory=lambda: steady(4))
    """Database connections in use per pod, of 20."""
    up: Level = lambda _: 1.0
    memory: Level = field(default_factory=lambda: steady(180e6))
    version: str = "v1.8.2"
    changed_to: str = ""
    """Version from `changed_at_s` on."""
    changed_at_s: float = 0


SHOP = tuple(ServiceLoad(name) for name in ("checkout", "payments", "catalog", "cart"))


def shop(**changed: ServiceLoad) -> tuple[ServiceLoad, ...]:
    """The shop with some services doing otherwise."""
    return tuple(changed.get(one.name, one) for one in SHOP)


def with_(name: str, **changes: object) -> ServiceLoad:
    """One service of the shop doing otherwise."""
    return replace(next(one for one in SHOP if one.name == name), **changes)  # type: ignore[arg-type]


def plant(double: MetricsDouble, stage: Stage, services: tuple[ServiceLoad, ...]) -> None:
    """Plant every series of every pod."""
    for service in services:
        for number in range(PODS):
            pod = f"{service.name}-{7 + number}d9f-{number}"
            labels = {**stage.where, "service": service.name, "pod": pod, "job": service.name}
            _traffic(double, stage, service, labels)
            _state(double, service, labels)
            _version(double, stage, service, labels)


def _counted(level: Level, stage: Stage) -> Level:
    """A counter whose rate is `level`: summed from the day before on, a quarter minute a step."""
    start = stage.ago(6 * 3600).timestamp()
    sums = [0.0]

    def total(at: float) -> float:
        index = max(0, int((at - start) // 15))
        while len(sums) <= index:
            sums.append(sums[-1] + 15 * level(start + 15 * len(sums)))
        return sums[index]

    return total


def _traffic(
    double: MetricsDouble, stage: Stage, service: ServiceLoad, labels: Mapping[str, str]
) -> None:
    per_pod = service.rate / PODS

    def good(at: float) -> float:
        return per_pod * (1 - service.errors(at)) * service.up(at)

    def bad(at: float) -> float:
        return per_pod * service.errors(at) * service.up(at)

    double.plant("http_requests_total", {**labels, "code": "200"}, _counted(good, stage))
    double.plant("http_requests_total", {**labels, "code": "500"}, _counted(bad, stage))
    for bound in (*BOUNDS, math.inf):
        le = "+Inf" if math.isinf(bound) else f"{bound:g}"
        bucket = _bucket(service, per_pod, bound)
        double.plant(
            "http_request_duration_seconds_bucket", {**labels, "le": le}, _counted(bucket, stage)
        )


def _bucket(service: ServiceLoad, per_pod: float, bound: float) -> Level:
    def below(at: float) -> float:
        # Latencies fall off exponentially; `latency_s` is their mean.
        share = 1.0 if math.isinf(bound) else 1 - math.exp(-bound / service.latency_s(at))
        return per_pod * share * service.up(at)

    return below


def _state(double: MetricsDouble, service: ServiceLoad, labels: Mapping[str, str]) -> None:
    double.plant("up", labels, service.up)
    double.plant("db_pool_in_use", labels, service.pool)
    double.plant("db_pool_max", labels, 20.0)
    double.plant("process_resident_memory_bytes", labels, service.memory)


def _version(
    double: MetricsDouble, stage: Stage, service: ServiceLoad, labels: Mapping[str, str]
) -> None:
    started = stage.ago(5 * 86400).timestamp()
    if not service.changed_to:
        double.plant("app_build_info", {**labels, "version": service.version})
        double.plant("process_start_time_seconds", labels, started)
        return
    at_s = service.changed_at_s
    old, new = {**labels, "version": service.version}, {**labels, "version": service.changed_to}
    double.plant("app_build_info", old, lambda at: 1.0 if at < at_s else None)
    double.plant("app_build_info", new, lambda at: 1.0 if at >= at_s else None)
    double.plant("process_start_time_seconds", labels, lambda at: started if at < at_s else at_s)
