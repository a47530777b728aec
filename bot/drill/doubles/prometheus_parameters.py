"""The parameters of Prometheus's HTTP API, and how it refuses wrong ones."""

from collections.abc import Iterable
from datetime import datetime

import promql_parser as promql

from bot.drill.doubles.promql_eval import ParseError, parse


class BadParameterError(Exception):
    """A request that names a parameter wrong; never a fault of the query."""


class Parameters:
    """The parameters of a request; some come more than once."""

    def __init__(self, pairs: Iterable[tuple[str, str]], now: float) -> None:
        self.pairs, self.now = list(pairs), now

    def all(self, name: str) -> list[str]:
        """Give every value of a parameter."""
        return [value for key, value in self.pairs if key == name]

    def one(self, name: str) -> str:
        """Give the first value of a parameter, or nothing."""
        return next(iter(self.all(name)), "")

    def time(self, name: str, default: float | None = None) -> float:
        """Read a time: unix seconds or RFC 3339."""
        text = self.one(name)
        if not text and default is not None:
            return default
        try:
            return float(text)
        except ValueError:
            pass
        try:
            return datetime.fromisoformat(text).timestamp()
        except ValueError:
            reason = f'cannot parse "{text}" to a valid timestamp'
            raise BadParameterError(f'invalid parameter "{name}": {reason}') from None

    def step(self) -> float:
        """Read the step: seconds or a duration."""
        text = self.one("step")
        try:
            seconds = float(text)
        except ValueError:
            seconds = _duration(text)
        if seconds <= 0:
            raise BadParameterError(
                'invalid parameter "step": zero or negative query resolution step widths'
                " are not accepted. Try a positive integer"
            )
        return seconds

    def query(self) -> promql.Expr:
        """Read the query.

        Raises:
            ParseError: It is no PromQL.
        """
        return parse(self.one("query"))


def _duration(text: str) -> float:
    try:
        return promql.parse_duration(text).total_seconds()
    except ValueError:
        reason = f'cannot parse "{text}" to a valid duration'
        raise BadParameterError(f'invalid parameter "step": {reason}') from None


def parse_selector(text: str) -> promql.VectorSelector:
    """Parse what `match[]` takes.

    Raises:
        BadParameterError: It is no series selector.
    """
    try:
        expr = parse(text)
    except ParseError as error:
        raise BadParameterError(f'invalid parameter "match[]": {error}') from None
    if not isinstance(expr, promql.VectorSelector):
        raise BadParameterError('invalid parameter "match[]": 1:1: parse error: no selector')
    return expr
