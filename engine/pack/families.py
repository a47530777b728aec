"""Which of a scope's metrics are worth a look, and the query that shows each at its clearest."""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Final, NamedTuple

from engine.model.base import Frozen
from engine.model.pack import Signal
from engine.pack.figures import unit_of
from engine.pack.scope import Scope

MOST_PROBES: Final = 16
"""Queries one metrics section may spend."""
_MOST_OTHERS: Final = 4
_USED = frozenset(
    {"inuse", "used", "active", "busy", "open", "current", "usage", "acquired", "working"}
)
_FREE = frozenset({"avail", "available", "free"})
_CEILING = frozenset({"max", "limit", "limits", "capacity", "maximum", "quota", "size", "total"})
_FILLER = frozenset({"config", "bytes", "count", "set", "spec"})
_COUNTERS = ("_total", "_count", "_sum")
STATUS_LABELS: Final = (
    "code", "status", "status_code", "http_status", "http_status_code",
    "http_response_status_code", "response_code", "grpc_code",
)  # fmt: skip
"""Labels that say how a request ended, the most usual first."""


class Probe(Frozen):
    """One question about a metric, answered for the failing one and its peers at once."""

    name: str
    """What a reader calls it."""
    query: str
    signal: Signal
    unit: str = ""
    limit: str | None = None
    """Query of the ceiling; None also where the query is a share already."""
    limit_name: str = ""
    """The metric the ceiling is read from."""


class _Style(NamedTuple):
    """How metrics of one signal are recognised and asked for."""

    signal: Signal
    named: re.Pattern[str]
    most: int
    write: Callable[[str, Scope, str], Probe]


def probes(names: Iterable[str], scope: Scope, over: str) -> tuple[Probe, ...]:
    """Choose what to ask, the most telling first.

    Args:
        names: metrics that carry the scope's labels.
        scope: who fails.
        over: range for rates, such as `5m`.
    """
    left = [name for name in sorted(set(names)) if not _BOOKKEEPING.match(name)]
    chosen: list[Probe] = []
    for used, ceiling in _pairs(left):
        chosen.append(_saturation(used, ceiling, scope))
        left = [name for name in left if name not in {used, ceiling}]
    for style in _STYLES:
        found = [name for name in left if style.named.search(name)][: style.most]
        chosen += [style.write(name, scope, over) for name in found]
        taken = {_stem(name) for name in found}
        left = [name for name in left if _stem(name) not in taken]
    return tuple(chosen[:MOST_PROBES])


def requests_metric(names: Iterable[str]) -> str | None:
    """Name the counter of requests served, where the scope has one."""
    found = sorted(name for name in names if _REQUESTS.search(name))
    return min(found, key=lambda name: (not name.endswith("_total"), len(name), name), default=None)


def latency_metric(names: Iterable[str]) -> str | None:
    """Name the histogram of how long requests take, where the scope has one."""
    return next(iter(sorted(name for name in names if _LATENCY.search(name))), None)


def quantile(metric: str, scope: Scope, over: str) -> str:
    """Write the 95th percentile of a histogram."""
    by = f"by ({', '.join(filter(None, (scope.member, 'le')))})"
    return f"histogram_quantile(0.95, sum {by} (rate({scope.peers(metric)}[{over}])))"


def rate(metric: str, scope: Scope, over: str, extra: str = "") -> str:
    """Write the rate of a counter; `extra` is one more matcher."""
    return f"sum {scope.by} (rate({scope.peers(metric, extra)}[{over}]))"


def error_matcher(groups: Iterable[Mapping[str, str]]) -> str | None:
    """Say which status label and values mean failure, from the label sets that occur."""
    seen = list(groups)
    for label in STATUS_LABELS:
        values = {labels[label] for labels in seen if labels.get(label)}
        if not values:
            continue
        if label == "grpc_code" or values & {"OK", "Internal", "Unavailable"}:
            return f'{label}=~"Internal|Unavailable|Unknown|DeadlineExceeded|DataLoss"'
        return f'{label}=~"5.."'
    return None


def _pairs(names: Iterable[str]) -> list[tuple[str, str]]:
    """Find what is used or free of a ceiling: the same words but for `in_use` against `max`."""
    gauges = [name for name in names if not name.endswith(("_seconds_total", "_count", "_bucket"))]
    ceilings: dict[frozenset[str], str] = {}
    for name in gauges:
        words = _words(name)
        if words & _CEILING and not words & _FREE:
            ceilings.setdefault(_about(words), name)
    pairs = []
    for name in gauges:
        words = _words(name)
        ceiling = ceilings.get(_about(words)) if words & (_USED | _FREE) else None
        if ceiling is not None and not words & _CEILING:
            pairs.append((name, ceiling))
    return pairs


def _words(name: str) -> frozenset[str]:
    apart = re.sub(r"Mem(?=[AFT])", "mem_", name).lower().replace("in_use", "inuse")
    return frozenset(apart.split("_"))


def _about(words: frozenset[str]) -> frozenset[str]:
    return words - _USED - _FREE - _CEILING - _FILLER


def _stem(name: str) -> str:
    """Give the family a metric belongs to: histogram parts and units are one thing."""
    return re.sub(r"(_bucket|_count|_sum|_total|_max)$", "", name)


def _saturation(used: str, ceiling: str, scope: Scope) -> Probe:
    if _words(used) & _FREE:
        taken = f"1 - {scope.peers(used)} / {scope.peers(ceiling)}"
        query = f"max {scope.by} ({taken})"
        name = f"{ceiling} in use"
        return Probe(name=name, query=query, signal=Signal.SATURATION, unit="ratio")
    return Probe(
        name=used,
        query=f"max {scope.by} ({scope.peers(used)})",
        signal=Signal.SATURATION,
        unit=unit_of(used),
        limit=f"max {scope.by} ({scope.peers(ceiling)})",
        limit_name=ceiling,
    )


def _p95(metric: str, scope: Scope, over: str) -> Probe:
    stem = metric.removesuffix("_bucket")
    query = quantile(metric, scope, over)
    return Probe(name=f"p95 {stem}", query=query, signal=Signal.LATENCY, unit=unit_of(stem))


def _rate_as(signal: Signal) -> Callable[[str, Scope, str], Probe]:
    def write(metric: str, scope: Scope, over: str) -> Probe:
        query = rate(metric, scope, over)
        return Probe(name=f"{metric} rate", query=query, signal=signal, unit="/s")

    return write


def _busy(metric: str, scope: Scope, over: str) -> Probe:
    name = f"{metric} rate"
    return Probe(name=name, query=rate(metric, scope, over), signal=Signal.CPU, unit=" cores")


def _increase(metric: str, scope: Scope, over: str) -> Probe:
    """Restarts are rare: they are counted over a quarter of an hour, whatever `over` is."""
    del over
    query = f"sum {scope.by} (increase({scope.peers(metric)}[15m]))"
    return Probe(name=f"{metric} in 15 min", query=query, signal=Signal.RESTARTS)


def _gauge_as(signal: Signal, function: str = "max") -> Callable[[str, Scope, str], Probe]:
    def write(metric: str, scope: Scope, over: str) -> Probe:
        if metric.endswith(_COUNTERS):
            return _rate_as(signal)(metric, scope, over)
        query = f"{function} {scope.by} ({scope.peers(metric)})"
        return Probe(name=metric, query=query, signal=signal, unit=unit_of(metric))

    return write


_BOOKKEEPING = re.compile(
    r"ALERTS|scrape_|prometheus_|go_memstats|go_gc_|go_info|process_start_time|promhttp_"
    r"|.*(_created|_info|_build_info|_bucket_created)$"
)
"""Series about measuring, or that never say anything of a failure."""
_REQUESTS = re.compile(r"(?<!process)(requests?|calls|handled|messages_processed)(_total|_count)$"
                       r"|requests?_(duration_)?(seconds|milliseconds)_count$")  # fmt: skip
_LATENCY = re.compile(r"(duration|latency|response_time|request_time|seconds)\w*_bucket$")
_STYLES: Final = (
    _Style(
        Signal.ERRORS,
        re.compile(r"(errors?|failures?|failed|exceptions?|timeouts?|rejected)(_total|_count)$"),
        3,
        _rate_as(Signal.ERRORS),
    ),
    _Style(Signal.RESTARTS, re.compile(r"restarts?(_total)?$"), 1, _increase),
    _Style(Signal.LATENCY, _LATENCY, 2, _p95),
    _Style(Signal.TRAFFIC, _REQUESTS, 2, _rate_as(Signal.TRAFFIC)),
    _Style(
        Signal.MEMORY,
        re.compile(r"(working_set|resident_memory|memory_usage|memory_used|heap_used)\w*$"),
        2,
        _gauge_as(Signal.MEMORY),
    ),
    _Style(Signal.CPU, re.compile(r"cpu\w*seconds_total$"), 2, _busy),
    _Style(Signal.UP, re.compile(r"^(up|probe_success|kube_\w+_ready)$"), 2,
           _gauge_as(Signal.UP, "min")),
    _Style(
        Signal.QUEUE,
        re.compile(r"(queue|backlog|(?<!f)lag|pending|in_?flight|waiting)"),
        3,
        _gauge_as(Signal.QUEUE),
    ),
    _Style(Signal.OTHER, re.compile(r"^(?!.*_(bucket|sum)$)"), _MOST_OTHERS,
           _gauge_as(Signal.OTHER)),
)  # fmt: skip
