"""Binary operators: on numbers, on a vector and a number, on two vectors."""

import math
from collections.abc import Callable, Mapping

from promql_parser import (
    BinaryExpr,
    BinModifier,
    LabelModifierType,
    VectorMatchCardinality,
)

from bot.drill.doubles.promql_series import NAME, ExecutionError, Labels
from bot.drill.doubles.promql_values import (
    Key,
    Sample,
    Value,
    Vector,
    distinct,
    key_of,
    only,
    unnamed,
    vector_of,
    without,
)


def divide(left: float, right: float) -> float:
    """Divide as IEEE does: by zero is infinite, zero by zero is no number."""
    if right:
        return left / right
    return math.nan if not left or math.isnan(left) else math.copysign(math.inf, left)


def _power(left: float, right: float) -> float:
    try:
        return math.pow(left, right)
    except OverflowError:
        return math.inf
    except ValueError:
        return math.nan


ARITHMETIC: Mapping[str, Callable[[float, float], float]] = {
    "+": lambda left, right: left + right,
    "-": lambda left, right: left - right,
    "*": lambda left, right: left * right,
    "/": divide,
    "%": lambda left, right: math.fmod(left, right) if right else math.nan,
    "^": _power,
    "atan2": math.atan2,
}
COMPARISON: Mapping[str, Callable[[float, float], bool]] = {
    "==": lambda left, right: left == right,
    "!=": lambda left, right: left != right,
    ">": lambda left, right: left > right,
    "<": lambda left, right: left < right,
    ">=": lambda left, right: left >= right,
    "<=": lambda left, right: left <= right,
}
SETS = {"and", "or", "unless"}


def binary(expr: BinaryExpr, left: Value, right: Value) -> Value:
    """Apply an operator to two values that are computed."""
    op, modifier = str(expr.op), expr.modifier
    as_bool = bool(modifier and modifier.return_bool)
    if isinstance(left, float) and isinstance(right, float):
        if op in COMPARISON:
            return float(COMPARISON[op](left, right))
        return ARITHMETIC[op](left, right)
    if isinstance(left, list) and isinstance(right, list):
        if op in SETS:
            return _sets(op, vector_of(left), vector_of(right), modifier)
        return _vectors(op, vector_of(left), vector_of(right), modifier)
    if isinstance(left, list) and isinstance(right, float):
        pairs = [(s, s.value, right) for s in vector_of(left)]
    elif isinstance(left, float) and isinstance(right, list):
        pairs = [(s, left, s.value) for s in vector_of(right)]
    else:
        raise ExecutionError(f"operator {op} on text")
    return distinct(
        [made for s, a, b in pairs for made in _apply(op, s, s.labels, (a, b), as_bool)]
    )


def _apply(
    op: str, sample: Sample, labels: Labels, pair: tuple[float, float], as_bool: bool
) -> Vector:
    """Compute one element; a comparison keeps or drops it, unless it is asked for 0 and 1."""
    if op in ARITHMETIC:
        return [Sample(unnamed(labels), ARITHMETIC[op](*pair))]
    holds = COMPARISON[op](*pair)
    if as_bool:
        return [Sample(unnamed(labels), float(holds))]
    return [Sample(labels, sample.value)] if holds else []


def _match_key(labels: Labels, modifier: BinModifier | None) -> Key:
    matching = modifier.matching if modifier else None
    if matching is None:
        return key_of(unnamed(labels))
    if matching.type == LabelModifierType.Include:
        return key_of(only(labels, matching.labels))
    return key_of(without(labels, matching.labels))


def _sets(op: str, left: Vector, right: Vector, modifier: BinModifier | None) -> Vector:
    there = {_match_key(sample.labels, modifier) for sample in right}
    if op == "and":
        return [sample for sample in left if _match_key(sample.labels, modifier) in there]
    if op == "unless":
        return [sample for sample in left if _match_key(sample.labels, modifier) not in there]
    here = {_match_key(sample.labels, modifier) for sample in left}
    return [*left, *(s for s in right if _match_key(s.labels, modifier) not in here)]


def _vectors(op: str, left: Vector, right: Vector, modifier: BinModifier | None) -> Vector:
    """Match two vectors; the side that may repeat itself is called many."""
    card = modifier.card if modifier else VectorMatchCardinality.OneToOne
    swapped = card == VectorMatchCardinality.OneToMany
    many, one = (right, left) if swapped else (left, right)
    ones = _unique(one, modifier, "left" if swapped else "right")
    if card == VectorMatchCardinality.OneToOne:
        _unique(many, modifier, "left")
    result: Vector = []
    for sample in many:
        partner = ones.get(_match_key(sample.labels, modifier))
        if partner is None:
            continue
        pair = (partner.value, sample.value) if swapped else (sample.value, partner.value)
        kept = sample if not swapped else Sample(sample.labels, partner.value)
        labels = _result_labels(op, sample, partner, modifier)
        result.extend(_apply(op, kept, labels, pair, bool(modifier and modifier.return_bool)))
    return distinct(result)


def _unique(side: Vector, modifier: BinModifier | None, name: str) -> dict[Key, Sample]:
    found: dict[Key, Sample] = {}
    for sample in side:
        key = _match_key(sample.labels, modifier)
        if key in found:
            group = ", ".join(f'{label}="{value}"' for label, value in key)
            raise ExecutionError(
                f"found duplicate series for the match group {{{group}}} on the {name} hand-side"
                " of the operation;many-to-many matching not allowed:"
                " matching labels must be unique on one side"
            )
        found[key] = sample
    return found


def _result_labels(op: str, many: Sample, one: Sample, modifier: BinModifier | None) -> Labels:
    """Choose the labels of a pair: matched ones, or the many side's with what it borrows."""
    keeps = op in COMPARISON and not (modifier and modifier.return_bool)
    labels = dict(many.labels) if keeps else dict(unnamed(many.labels))
    if modifier is None or modifier.matching is None:
        return labels
    if modifier.card != VectorMatchCardinality.OneToOne:
        for name in modifier.group_labels or []:
            labels.pop(name, None)
            labels |= only(one.labels, [name])
        return labels
    if modifier.matching.type == LabelModifierType.Include:
        return only(labels, modifier.matching.labels)
    return {k: v for k, v in labels.items() if k not in modifier.matching.labels and k != NAME}
