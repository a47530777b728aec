"""The selectors of an expression, read off its tokens; and one selector written from values."""

import re
from collections.abc import Mapping, Sequence

from engine.model.base import Frozen
from engine.promql.expression import Expression
from engine.promql.scan import Role
from engine.promql.strings import quote, unquote
from engine.promql.tokens import Kind, Token

NAME_LABEL = "__name__"
_METRIC_NAME = re.compile(r"[A-Za-z_:][A-Za-z0-9_:]*")
_LABEL_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# Words that are no metric name without braces, or not to every server.
_RESERVED = frozenset(
    {"and", "or", "unless", "atan2", "on", "ignoring", "group_left", "group_right", "bool"}
    | {"inf", "nan", "offset", "by", "without", "anchored", "smoothed"}
    | {"fill", "fill_left", "fill_right", "start", "end", "step", "range"}
)


class Matcher(Frozen):
    """One condition on a label."""

    label: str
    op: str
    """`=`, `!=`, `=~` or `!~`."""
    value: str

    @property
    def pins(self) -> bool:
        """Whether it holds the label to one value that is there."""
        return self.op == "=" and self.value != ""


class Selector(Frozen):
    """A choice of series: a metric, matchers or both."""

    metric: str | None
    """None when no equality on the name is given."""
    matchers: tuple[Matcher, ...]
    """In the text's order; an equality on the name is `metric` instead."""
    start: int
    end: int
    """Positions in the text; the range, offset and time behind it are not part of it."""
    braced: bool


def selectors(expr: str) -> tuple[Selector, ...]:
    """Give the selectors of `expr` in its order; broken text gives what can be read."""
    return selected(Expression(expr))


def selected(expression: Expression) -> tuple[Selector, ...]:
    """Give the selectors of an expression that was read already."""
    found: dict[int, Selector] = {}
    ends = {}
    for start, end in expression.regions(Role.SELECTOR):
        named = start > 0 and expression.roles[start - 1] is Role.METRIC
        first = start - 1 if named else start
        found[first] = _selector(expression.tokens[first:end], named=named)
        ends[first] = end
    for at in expression.places(Role.METRIC):
        if at not in found:
            found[at] = _selector(expression.tokens[at : at + 1], named=True)
    return tuple(found[at] for at in sorted(found))


def _selector(part: Sequence[Token], *, named: bool) -> Selector:
    matchers = list(_matchers(part[1:]))
    metric = part[0].text if named else None
    for matcher in list(matchers):
        if metric is None and matcher.label == NAME_LABEL and matcher.pins:
            metric = matcher.value
            matchers.remove(matcher)
    return Selector(
        metric=metric,
        matchers=tuple(matchers),
        start=part[0].start,
        end=part[-1].end,
        braced=len(part) > 1 or not named,
    )


def _matchers(inner: Sequence[Token]) -> list[Matcher]:
    """Read `label op "value"` and, for a quoted metric name, the value alone."""
    found, at = [], 0
    while at < len(inner):
        match inner[at : at + 3]:
            case [
                Token(kind=Kind.WORD | Kind.STRING) as label,
                Token(text="=" | "!=" | "=~" | "!~" as op),
                Token(kind=Kind.STRING, text=value),
            ]:
                found.append(Matcher(label=_name(label), op=op, value=unquote(value)))
                at += 3
            case [Token(kind=Kind.STRING) as name, *_]:
                found.append(Matcher(label=NAME_LABEL, op="=", value=_name(name)))
                at += 1
            case _:
                at += 1
    return found


def _name(token: Token) -> str:
    return unquote(token.text) if token.kind is Kind.STRING else token.text


def matched(matchers: Mapping[str, str]) -> str:
    """Write equality matchers as they stand between braces."""
    return ",".join(f"{_label(label)}={quote(value)}" for label, value in matchers.items())


def _label(name: str) -> str:
    return name if _LABEL_NAME.fullmatch(name) else quote(name)


def selector(metric: str | None, matchers: Mapping[str, str]) -> str:
    """Write a selector; a metric name that is no plain word goes into the braces."""
    plain = metric is not None and _METRIC_NAME.fullmatch(metric)
    if metric is not None and plain and metric.lower() not in _RESERVED:
        return f"{metric}{{{matched(matchers)}}}" if matchers else metric
    named = {} if metric is None else {NAME_LABEL: metric}
    return f"{{{matched({**named, **matchers})}}}"
