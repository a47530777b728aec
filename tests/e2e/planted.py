"""What a play's metrics server holds, from a few declarative words."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, model_validator
from typing_extensions import override

from bot.drill.doubles.prometheus import MetricsDouble
from bot.drill.estate import Level, ServiceLoad, plant, shop, steady, step, with_
from bot.drill.scenario import Stage
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


class Ill(Strict):
    """A service of the shop that does otherwise than the rest."""

    errors: Step | None = None
    latency_s: Step | None = None
    pool: Step | None = None
    up: Step | None = None
    changed_to: str = ""
    changed: str = "-10m"
    """When its version changed."""


class Estate(Strict):
    """Everything the metrics server holds."""

    namespace: str = "shop"
    shop: dict[str, Ill] | None = None
    """Which services of the shop are ill; None plants no shop at all."""
    series: list[Planted] = []
    rules: dict[str, str] = {}
    """Expressions of alerting rules, by name."""


def plant_estate(double: MetricsDouble, estate: Estate) -> None:
    """Plant all of it."""
    if estate.shop is not None:
        ill = {name: _service(name, one) for name, one in estate.shop.items()}
        plant(double, _Place("eu-1", CURTAIN, estate.namespace), shop(**ill))
    for series in estate.series:
        for n in range(1, series.times + 1):
            double.plant(series.metric, numbered(series.labels, n), series.source)
    rules = [_rule(name, expression) for name, expression in estate.rules.items()]
    double.groups = [{"name": "play", "file": "play.yml", "interval": 15, "rules": rules}]


@dataclass(frozen=True)
class _Place(Stage):
    """A stage in a namespace of its own."""

    namespace: str = ""

    @property
    @override
    def where(self) -> Mapping[str, str]:
        return {"cluster": self.cluster, "namespace": self.namespace}


def _service(name: str, ill: Ill) -> ServiceLoad:
    changed: Json = {
        name: _swaying(found)
        for name in ("errors", "latency_s", "pool", "up")
        if (found := getattr(ill, name)) is not None
    }
    if ill.changed_to:
        changed |= {"changed_to": ill.changed_to, "changed_at_s": after_curtain(ill.changed)}
    return with_(name, **changed)


def _swaying(found: Step) -> Level:
    if {found.before, found.after} <= {0.0, 1.0}:
        return found.level
    if found.before == found.after:
        return steady(found.after)
    return step(found.before, found.after, after_curtain(found.at))


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
