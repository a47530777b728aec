"""A small shop as metrics: a few services, healthy until something is done to one of them."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from bot.drill.doubles.prometheus import MetricsDouble
from bot.drill.scenario import Stage

PODS = 3
BOUNDS = (0.1, 0.25, 1.0, 2.5)
SCRAPE_S = 15
BEFORE_S = 3 * 3600
"""How far back a rehearsal's series reach."""
AFTER_S = 900
"""How far they go on while it plays."""
Level = Callable[[float], float]
"""Value at a unix time."""
Point = tuple[float, float]


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

    def good(self, at: float) -> float:
        """Share of requests that succeed."""
        return 1 - self.errors(at)

    def below(self, bound: float, at: float) -> float:
        """Share of requests quicker than `bound`: they fall off exponentially from the mean."""
        return 1.0 if math.isinf(bound) else 1 - math.exp(-bound / self.latency_s(at))


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
            _state(double, stage, service, labels)
            _version(double, stage, service, labels)


def moments(stage: Stage) -> range:
    """The unix seconds at which a rehearsal's series are scraped."""
    now = int(stage.now.timestamp()) // SCRAPE_S * SCRAPE_S
    return range(now - BEFORE_S, now + AFTER_S, SCRAPE_S)


def gauge(level: Level, stage: Stage) -> list[Point]:
    """A series that shows `level` itself."""
    return [(at, level(at)) for at in moments(stage)]


def counter(level: Level, stage: Stage) -> list[Point]:
    """A counter whose rate is `level`."""
    total, points = 0.0, []
    for at in moments(stage):
        total += SCRAPE_S * level(at)
        points.append((float(at), total))
    return points


def _traffic(
    double: MetricsDouble, stage: Stage, service: ServiceLoad, labels: Mapping[str, str]
) -> None:
    per_pod = service.rate / PODS

    def answered(share: Level) -> list[Point]:
        return counter(lambda at: per_pod * share(at) * service.up(at), stage)

    double.plant("http_requests_total", {**labels, "code": "200"}, answered(service.good))
    double.plant("http_requests_total", {**labels, "code": "500"}, answered(service.errors))
    for bound in (*BOUNDS, math.inf):
        le = "+Inf" if math.isinf(bound) else f"{bound:g}"
        named = {**labels, "le": le}
        points = answered(lambda at, bound=bound: service.below(bound, at))
        double.plant("http_request_duration_seconds_bucket", named, points)


def _state(
    double: MetricsDouble, stage: Stage, service: ServiceLoad, labels: Mapping[str, str]
) -> None:
    double.plant("up", labels, gauge(service.up, stage))
    double.plant("db_pool_in_use", labels, gauge(service.pool, stage))
    double.plant("db_pool_max", labels, 20.0)
    double.plant("process_resident_memory_bytes", labels, gauge(service.memory, stage))


def _version(
    double: MetricsDouble, stage: Stage, service: ServiceLoad, labels: Mapping[str, str]
) -> None:
    started, at_s = stage.ago(5 * 86400).timestamp(), service.changed_at_s
    old = {**labels, "version": service.version}
    if not service.changed_to:
        double.plant("app_build_info", old)
        double.plant("process_start_time_seconds", labels, started)
        return
    new = {**labels, "version": service.changed_to}
    double.plant("app_build_info", old, lambda at: 1.0 if at < at_s else None)
    double.plant("app_build_info", new, lambda at: 1.0 if at >= at_s else None)
    since = gauge(lambda at: started if at < at_s else at_s, stage)
    double.plant("process_start_time_seconds", labels, since)
