"""Aggregation: many samples become one, by label."""

import math
import statistics
from collections.abc import Callable, Mapping

from promql_parser import AggModifier, AggModifierType

from bot.drill.doubles.promql_series import ExecutionError, Labels
from bot.drill.doubles.promql_values import Key, Sample, Vector, key_of, only, without
from bot.drill.doubles.promql_windows import quantile

REDUCE: Mapping[str, Callable[[list[float]], float]] = {
    "sum": math.fsum,
    "avg": statistics.fmean,
    "min": min,
    "max": max,
    "count": lambda values: float(len(values)),
    "group": lambda _: 1.0,
    "stddev": statistics.pstdev,
    "stdvar": statistics.pvariance,
}


def aggregate(
    op: str, vector: Vector, modifier: AggModifier | None, param: float | str | None
) -> Vector:
    """Aggregate a vector with an operator, its `by` or `without`, and its parameter."""
    groups: dict[Key, Vector] = {}
    for sample in vector:
        groups.setdefault(key_of(_group(sample.labels, modifier)), []).append(sample)
    result: Vector = []
    for key, members in groups.items():
        result.extend(_reduce(op, dict(key), members, param))
    if op in {"topk", "bottomk"}:
        result.sort(key=lambda sample: sample.value, reverse=op == "topk")
    return result


def _group(labels: Labels, modifier: AggModifier | None) -> Labels:
    if modifier is None:
        return {}
    if modifier.type == AggModifierType.By:
        return only(labels, modifier.labels)
    return without(labels, modifier.labels)


def _reduce(op: str, labels: Labels, members: Vector, param: float | str | None) -> Vector:
    values = [member.value for member in members]
    if op in REDUCE:
        return [Sample(labels, REDUCE[op](values))]
    if op == "quantile" and isinstance(param, float):
        return [Sample(labels, quantile(param, values))]
    if op in {"topk", "bottomk"} and isinstance(param, float):
        ranked = sorted(members, key=lambda member: member.value, reverse=op == "topk")
        return ranked[: max(0, int(param))]
    if op == "count_values" and isinstance(param, str):
        counted = {value: float(values.count(value)) for value in values}
        return [Sample({**labels, param: f"{value:g}"}, n) for value, n in counted.items()]
    raise ExecutionError(f"aggregation {op} is not part of the rehearsal")
