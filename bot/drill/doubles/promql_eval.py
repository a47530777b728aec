"""Evaluating PromQL over planted series: what a context pack asks, by Prometheus's own rules."""

import math
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

import promql_parser as promql

from bot.drill.doubles.promql_aggregate import aggregate
from bot.drill.doubles.promql_binary import binary
from bot.drill.doubles.promql_functions import call
from bot.drill.doubles.promql_series import ExecutionError, Labels, Store
from bot.drill.doubles.promql_values import (
    Sample,
    Value,
    Vector,
    Window,
    distinct,
    key_of,
    number_of,
    unnamed,
    vector_of,
)
from bot.drill.doubles.promql_windows import (
    KEEPS_NAME,
    OVER_WINDOW,
    quantile,
    slope,
    values_of,
)

MAX_LENGTH, MAX_DEPTH = 4_000, 50
"""The parser's library ends the whole process far beyond these; they are checked before it."""
SUBQUERY_STEP_S = 60.0


class ParseError(Exception):
    """A query that is no PromQL."""


def parse(query: str) -> promql.Expr:
    """Parse a query.

    Raises:
        ParseError: With a position and a reason, as Prometheus writes them.
    """
    deepest = depth = 0
    for char in query:
        depth += (char in "([{") - (char in ")]}")
        deepest = max(deepest, depth)
    if len(query) > MAX_LENGTH or deepest > MAX_DEPTH:
        raise ParseError("1:1: parse error: the query is too long or too deep")
    try:
        return promql.parse(query)
    except BaseException as error:
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        where = len(query) + 1 if "unexpected end" in str(error) or "unclosed" in str(error) else 1
        raise ParseError(f"1:{where}: parse error: {error}") from None


@dataclass(frozen=True)
class Evaluation:
    """One moment at which queries are answered."""

    store: Store
    at: float
    """Unix seconds."""

    def value(self, expr: promql.Expr) -> Value:
        """Compute an expression.

        Raises:
            ExecutionError: It cannot be computed, or not by this evaluator.
        """
        match expr:
            case promql.NumberLiteral() | promql.StringLiteral():
                return expr.val
            case promql.ParenExpr():
                return self.value(expr.expr)
            case promql.VectorSelector():
                return self._instant(expr)
            case promql.MatrixSelector() | promql.SubqueryExpr():
                return self._windows(expr)
            case _:
                return self._computed(expr)

    def _computed(self, expr: promql.Expr) -> Value:
        match expr:
            case promql.UnaryExpr():
                return _negated(self.value(expr.expr))
            case promql.BinaryExpr():
                return binary(expr, self.value(expr.lhs), self.value(expr.rhs))
            case promql.AggregateExpr():
                return self._aggregate(expr)
            case promql.Call():
                return self._call(expr)
            case _:
                raise ExecutionError(f"{type(expr).__name__} is not part of the rehearsal")

    def _instant(self, selector: promql.VectorSelector) -> Vector:
        at = self._moment(selector)
        found = ((series, series.at(at)) for series in self.store.select(selector))
        return [Sample(series.labels, value) for series, value in found if value is not None]

    def _windows(self, expr: promql.MatrixSelector | promql.SubqueryExpr) -> list[Window]:
        if isinstance(expr, promql.SubqueryExpr):
            return self._subquery(expr)
        selector = expr.vector_selector
        end = self._moment(selector)
        start = end - expr.range.total_seconds()
        found = [
            Window(series.labels, series.between(start, end), start, end)
            for series in self.store.select(selector)
        ]
        return [window for window in found if window.points]

    def _subquery(self, expr: promql.SubqueryExpr) -> list[Window]:
        """Evaluate the inner query at steps that are multiples of the step."""
        end = self._moment(expr)
        start = end - (expr.range or timedelta()).total_seconds()
        step = expr.step.total_seconds() if expr.step else SUBQUERY_STEP_S
        windows: dict[Any, Window] = {}
        for tick in range(math.ceil(start / step), math.floor(end / step) + 1):
            at = tick * step
            inner = replace(self, at=at).value(expr.expr)
            vector = [Sample({}, inner)] if isinstance(inner, float) else vector_of(inner)
            for sample in vector:
                window = Window(sample.labels, [], start, end)
                windows.setdefault(key_of(sample.labels), window).points.append((at, sample.value))
        return list(windows.values())

    def _moment(self, expr: promql.VectorSelector | promql.SubqueryExpr) -> float:
        """Find the time a selector looks at, by its offset and its `@`."""
        at = self.at
        if expr.at is not None:
            if expr.at.at is None:
                raise ExecutionError("@ start() and @ end() are not part of the rehearsal")
            at = expr.at.at.timestamp()
        return at - (expr.offset or timedelta()).total_seconds()

    def _aggregate(self, expr: promql.AggregateExpr) -> Vector:
        param = None if expr.param is None else self.value(expr.param)
        if isinstance(param, list):
            raise ExecutionError("expected a scalar parameter")
        return aggregate(str(expr.op), vector_of(self.value(expr.expr)), expr.modifier, param)

    def _call(self, expr: promql.Call) -> Value:
        name = expr.func.name
        if name in {"absent", "absent_over_time"}:
            return self._absent(expr.args[0])
        given = [self.value(argument) for argument in expr.args]
        for argument, windows in zip(expr.args, given, strict=True):
            if isinstance(argument, promql.MatrixSelector | promql.SubqueryExpr):
                numbers = [number_of(each) for each in given if isinstance(each, float)]
                return self._over_windows(name, windows, numbers)
        return call(name, given, self.at)

    def _over_windows(self, name: str, windows: Any, numbers: list[float]) -> Vector:
        result: Vector = []
        for window in windows:
            value = self._over_window(name, window, numbers)
            labels = window.labels if name in KEEPS_NAME else unnamed(window.labels)
            if value is not None:
                result.append(Sample(labels, value))
        return distinct(result)

    def _over_window(self, name: str, window: Window, numbers: list[float]) -> float | None:
        if name == "quantile_over_time":
            return quantile(numbers[0], values_of(window))
        if name == "predict_linear":
            line = slope(window, self.at)
            return line[1] + line[0] * numbers[0] if line else None
        if name in OVER_WINDOW:
            return OVER_WINDOW[name](window)
        raise ExecutionError(f"function {name} is not part of the rehearsal")

    def _absent(self, expr: promql.Expr) -> Vector:
        """Say 1 when nothing is there, with the labels the selector pins."""
        if self.value(expr):
            return []
        selector = expr.vector_selector if isinstance(expr, promql.MatrixSelector) else expr
        return [Sample(_pinned(selector), 1.0)]


def _pinned(expr: promql.Expr) -> Labels:
    if not isinstance(expr, promql.VectorSelector):
        return {}
    matchers = [m for m in expr.matchers.matchers if m.name != "__name__"]
    return {m.name: m.value for m in matchers if m.op == promql.MatchOp.Equal and m.value}


def _negated(value: Value) -> Value:
    if isinstance(value, float):
        return -value
    return distinct([Sample(unnamed(s.labels), -s.value) for s in vector_of(value)])
