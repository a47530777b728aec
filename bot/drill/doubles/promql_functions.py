"""Functions over instant vectors and numbers."""

import math
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime

from bot.drill.doubles.promql_series import ExecutionError
from bot.drill.doubles.promql_values import (
    Key,
    Sample,
    Value,
    Vector,
    distinct,
    key_of,
    number_of,
    unnamed,
    vector_of,
    without,
)


def _round(value: float, nearest: float = 1.0) -> float:
    return math.floor(value / nearest + 0.5) * nearest if math.isfinite(value) else value


def _whole(turn: Callable[[float], int]) -> Callable[[float], float]:
    return lambda value: float(turn(value)) if math.isfinite(value) else value


def _log(log: Callable[[float], float]) -> Callable[[float], float]:
    def safe(value: float) -> float:
        return log(value) if value > 0 else -math.inf if not value else math.nan

    return safe


def _clamp(value: float, low: float, high: float) -> float:
    return max(low, min(high, value))


EACH: Mapping[str, Callable[..., float]] = {
    "abs": abs,
    "ceil": _whole(math.ceil),
    "floor": _whole(math.floor),
    "exp": math.exp,
    "ln": _log(math.log),
    "log2": _log(math.log2),
    "log10": _log(math.log10),
    "sqrt": lambda value: math.sqrt(value) if value >= 0 else math.nan,
    "sgn": lambda value: math.copysign(1.0, value) if value else value,
    "round": _round,
    "clamp": _clamp,
    "clamp_min": max,
    "clamp_max": min,
}
"""What is computed sample by sample; further arguments are numbers."""

CALENDAR: Mapping[str, Callable[[datetime], int]] = {
    "hour": lambda at: at.hour,
    "minute": lambda at: at.minute,
    "day_of_week": lambda at: at.isoweekday() % 7,
    "day_of_month": lambda at: at.day,
    "month": lambda at: at.month,
    "year": lambda at: at.year,
}


def call(name: str, given: list[Value], at: float) -> Value:
    """Call a function over instant vectors and numbers."""
    if name in EACH:
        numbers = [number_of(each) for each in given[1:]]
        vector = vector_of(given[0])
        return distinct([Sample(unnamed(s.labels), EACH[name](s.value, *numbers)) for s in vector])
    if name in CALENDAR:
        moments = vector_of(given[0]) if given else [Sample({}, at)]
        read = CALENDAR[name]
        return [
            Sample(unnamed(s.labels), float(read(datetime.fromtimestamp(s.value, UTC))))
            for s in moments
        ]
    if name in WHOLE:
        return WHOLE[name](given, at)
    raise ExecutionError(f"function {name} is not part of the rehearsal")


def _scalar(given: list[Value], _at: float) -> Value:
    vector = vector_of(given[0])
    return vector[0].value if len(vector) == 1 else math.nan


def _sort(given: list[Value], _at: float) -> Value:
    return sorted(vector_of(given[0]), key=lambda sample: sample.value)


def _sort_desc(given: list[Value], _at: float) -> Value:
    return sorted(vector_of(given[0]), key=lambda sample: -sample.value)


def _label_replace(given: list[Value], _at: float) -> Value:
    target, template, source, pattern = (str(each) for each in given[1:])
    expression = re.compile(f"(?:{pattern})", re.DOTALL)
    template = re.sub(r"\$\{?(\w+)\}?", r"\\g<\1>", template)
    result: Vector = []
    for sample in vector_of(given[0]):
        found = expression.fullmatch(sample.labels.get(source, ""))
        labels = dict(sample.labels)
        if found:
            labels[target] = found.expand(template)
        result.append(Sample({k: v for k, v in labels.items() if v}, sample.value))
    return distinct(result)


def _label_join(given: list[Value], _at: float) -> Value:
    target, separator, *sources = (str(each) for each in given[1:])
    result: Vector = []
    for sample in vector_of(given[0]):
        joined = separator.join(sample.labels.get(source, "") for source in sources)
        labels = {**sample.labels, target: joined}
        result.append(Sample({k: v for k, v in labels.items() if v}, sample.value))
    return distinct(result)


def _histogram_quantile(given: list[Value], _at: float) -> Value:
    q, groups = number_of(given[0]), dict[Key, list[tuple[float, float]]]()
    for sample in vector_of(given[1]):
        try:
            bound = float(sample.labels["le"])
        except (KeyError, ValueError):
            continue
        groups.setdefault(key_of(without(sample.labels, ["le"])), []).append((bound, sample.value))
    return [Sample(dict(key), _bucket_quantile(q, buckets)) for key, buckets in groups.items()]


def _bucket_quantile(q: float, buckets: list[tuple[float, float]]) -> float:
    """Interpolate inside the bucket in which the quantile falls."""
    if math.isnan(q) or q < 0 or q > 1:
        return math.nan if math.isnan(q) else math.copysign(math.inf, q - 0.5)
    buckets = sorted(buckets)
    if len(buckets) <= 1 or buckets[-1][0] != math.inf or not buckets[-1][1]:
        return math.nan
    counts = [max(count for _, count in buckets[: n + 1]) for n in range(len(buckets))]
    rank = q * counts[-1]
    index = next((n for n, count in enumerate(counts[:-1]) if count >= rank), len(counts) - 1)
    if index == len(buckets) - 1:
        return buckets[-2][0]
    end = buckets[index][0]
    if not index and end <= 0:
        return end
    start, below = (buckets[index - 1][0], counts[index - 1]) if index else (0.0, 0.0)
    return start + (end - start) * ((rank - below) / (counts[index] - below))


WHOLE: Mapping[str, Callable[[list[Value], float], Value]] = {
    "time": lambda _, at: at,
    "vector": lambda given, _: [Sample({}, number_of(given[0]))],
    "scalar": _scalar,
    "sort": _sort,
    "sort_desc": _sort_desc,
    "label_replace": _label_replace,
    "label_join": _label_join,
    "histogram_quantile": _histogram_quantile,
    "pi": lambda _given, _at: math.pi,
}
"""What looks at the whole vector, or at no vector."""
