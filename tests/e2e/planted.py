"""What a play's metrics server holds, from a few declarative words."""

import math
from collections.abc import Callable, Mapping
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, model_validator

from bot.drill.doubles.prometheus import MetricsDouble
from bot.drill.estate import Level
from engine.model.policy import seconds
from tests.e2e.moved import CURTAIN

Json = dict[str, Any]
DAY_S = 86_400.0


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


def after_curtain(offset: str | float) -> float:
    """Unix time of an offset such as `-8m`."""
    text = str(offset)
    sign = -1 if text.startswith("-") else 1
    return CURTAIN.timestamp() + sign * float(str(seconds(text.lstrip("-"))))


class Step(Strict):
    """One value until a moment, another from then on."""

    at: str
    before: float
    after: float

    @property
    def level(self) -> Level:
        at_s = after_curtain(self.at)
        return lambda at: self.after if at >= at_s else self.before


class Planted(Strict):
    """Series of one name; `{n}` in a label counts them."""

    metric: str
    labels: dict[str, str] = {}
    value: float | None = None
    step: Step | None = None
    rate: float | None = None
    times: int = 1

    @model_validator(mode="after")
    def _one_shape(self) -> Self:
        assert [self.value, self.step, self.rate].count(None) == 2, "a value, a step or a rate"
        return self

    @property
    def source(self) -> Callable[[float], float | None]:
        if self.step is not None:
            return self.step.level
        if self.rate is not None:
            begun, rate = CURTAIN.timestamp() - DAY_S, self.rate
            return lambda at: rate * (at - begun)
        value = self.value
        return lambda _: value


class Service(Strict):
    """A service of two pods; well until `since`."""

    errors: float = 0.001
    """Share of requests that fail from then on."""
    up: float = 1
    """1 is up, 0 is down, from then on."""
    since: str = "-8m"
    changed_to: str = ""
    """A version; from `changed` on."""
    changed: str = "-10m"


class Estate(Strict):
    """Everything the metrics server holds."""

    namespace: str = "shop"
    services: dict[str, Service] = {}
    series: list[Planted] = []
    rules: dict[str, str] = {}
    """Expressions of alerting rules, by name."""


def plant_estate(double: MetricsDouble, estate: Estate) -> None:
    """Plant all of it."""
    for name, service in estate.services.items():
        _plant_service(double, {"namespace": estate.namespace, "service": name}, service)
    for series in estate.series:
        for n in range(1, series.times + 1):
            double.plant(series.metric, numbered(series.labels, n), series.source)
    rules = [_rule(name, expression) for name, expression in estate.rules.items()]
    double.groups = [{"name": "play", "file": "play.yml", "interval": 15, "rules": rules}]


def _plant_service(double: MetricsDouble, where: Mapping[str, str], service: Service) -> None:
    since = after_curtain(service.since)
    for n in (1, 2):
        labels = {**where, "pod": f"{where['service']}-7d9f-{n}xq2{n}", "job": where["service"]}
        share = Step(at=service.since, before=0.001, after=service.errors)
        double.plant("http_requests_total", {**labels, "code": "200"}, _counter(since, share, 20))
        bad = Step(at=service.since, before=0.999, after=1 - service.errors)
        double.plant("http_requests_total", {**labels, "code": "500"}, _counter(since, bad, 20))
        up = Step(at=service.since, before=1, after=service.up)
        double.plant("up", labels, up.level)
        _plant_versions(double, labels, service)


def _counter(since: float, missing: Step, rate: float) -> Level:
    """A counter of the requests that are not `missing`, with a small sway as real ones have."""
    begun = CURTAIN.timestamp() - DAY_S

    def total(at: float) -> float:
        before, after = min(at, since) - begun, max(at - since, 0)
        counted = rate * ((1 - missing.before) * before + (1 - missing.after) * after)
        return counted + 0.2 * rate * (1 - missing.after) * math.sin(at / 47)

    return total


def _plant_versions(double: MetricsDouble, labels: Mapping[str, str], service: Service) -> None:
    old = {**labels, "version": "v2.40.3"}
    if not service.changed_to:
        double.plant("app_build_info", old)
        return
    at_s = after_curtain(service.changed)
    new = {**labels, "version": service.changed_to}
    double.plant("app_build_info", old, lambda at: 1.0 if at < at_s else None)
    double.plant("app_build_info", new, lambda at: 1.0 if at >= at_s else None)


def numbered(labels: Mapping[str, str], n: int) -> dict[str, str]:
    """Labels with `{n}` filled in."""
    return {name: value.replace("{n}", str(n)) for name, value in labels.items()}


def _rule(name: str, expression: str) -> Json:
    return {
        "name": name,
        "query": expression,
        "duration": 0,
        "labels": {},
        "annotations": {},
        "state": "firing",
        "type": "alerting",
        "health": "ok",
        "alerts": [],
    }
