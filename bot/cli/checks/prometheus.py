"""Prometheus: version, targets, its clock, its rules, and which exporters it scrapes."""

import json
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, TypeVar

from bot.backends.http import BoundedHttp
from bot.backends.of_client import Metrics
from bot.cli.checks.line import Line, absent, bad, ok
from bot.cli.unreachable import why
from bot.tools.prometheus import ServerFacts
from engine.model.evidence import Gap
from engine.ports import Clock

MOST_SKEW_S = 5.0
PART = "prometheus"
_OK = 200
T = TypeVar("T")
_NO_METRICS = "no metrics: cards hold the alert and its history, no onset, no peers, no suspects"


def not_configured() -> Line:
    """No Prometheus at all."""
    return absent(PART, "not set up", "set prometheus: {url: …} in caveat.yaml", _NO_METRICS)


async def prometheus(metrics: Metrics, url: str, clock: Clock) -> list[Line]:
    """Ask one server everything; what it does not answer is said with its cure."""
    info = await metrics.tool.server_info()
    if isinstance(info, Gap):
        happened, cure = why("Prometheus", url, info)
        return [bad(PART, happened, cure, _NO_METRICS)]
    http = metrics.http
    return [
        _version(info, url),
        await _targets(http),
        await _skew(http, clock),
        await _rules(metrics),
        await _cluster_state(http),
    ]


def _version(info: ServerFacts, url: str) -> Line:
    return ok(PART, f"{info.version or 'no version told'} at {url}")


async def _targets(http: BoundedHttp) -> Line:
    part = "targets"
    found = await _asked(http, "/api/v1/targets", {"state": "active"}, _healths)
    if found is None:
        return absent(part, "not told", "allow /api/v1/targets", "nothing; only this line")
    up = found.count("up")
    if not found:
        cure = "check its scrape_configs"
        return bad(part, "none", cure, _NO_METRICS)
    return ok(part, f"{up} of {len(found)} up")


def _healths(body: Any) -> list[str]:
    return [str(target["health"]) for target in body["data"]["activeTargets"]]


async def _skew(http: BoundedHttp, clock: Clock) -> Line:
    part = "clock"
    sent: datetime = clock.now()
    told_s = await _asked(http, "/api/v1/query", {"query": "time()"}, _scalar)
    if told_s is None:
        return bad(part, "time() is not answered", "ask Prometheus's own log why", _NO_METRICS)
    skew_s = told_s - sent.timestamp()
    if abs(skew_s) > MOST_SKEW_S:
        cure = "set both clocks by NTP"
        return bad(part, f"{skew_s:+.0f} s against ours", cure, "onsets and windows are off by it")
    return ok(part, f"within {MOST_SKEW_S:g} s of ours")


def _scalar(body: Any) -> float:
    return float(body["data"]["result"][1])


async def _rules(metrics: Metrics) -> Line:
    found = await metrics.tool.rules()
    if isinstance(found, Gap):
        return absent(
            "rules",
            f"not told ({found.cause} {found.detail})".replace(" )", ")"),
            "allow /api/v1/rules; Mimir and Thanos have it on their ruler",
            "no expressions: no onset from the alert's own series, no threshold on cards",
        )
    return ok("rules", f"{len(found)} alerting rules")


async def _cluster_state(http: BoundedHttp) -> Line:
    part = "kube-state-metrics"
    query = {"query": 'count({__name__=~"kube_pod_info|kube_pod_container_info"})'}
    found = await _asked(http, "/api/v1/query", query, _count)
    if found:
        return ok(part, "found")
    return absent(
        part,
        "not found",
        "none without Kubernetes; else scrape kube-state-metrics",
        "no images and restarts of pods, so no deploys read from Kubernetes",
    )


def _count(body: Any) -> int:
    return len(body["data"]["result"])


async def deploys_readable(http: BoundedHttp) -> bool:
    """Whether versions leave a trace in metrics."""
    names = "kube_pod_container_info|process_start_time_seconds|.+_build_info"
    query = {"query": f'count({{__name__=~"{names}"}})'}
    return bool(await _asked(http, "/api/v1/query", query, _count))


async def _asked(
    http: BoundedHttp, path: str, params: Mapping[str, str], read: Callable[[Any], T]
) -> T | None:
    """Read an answer; None when there is none that makes sense."""
    reply = await http.get(path, params)
    if isinstance(reply, Gap) or reply.status != _OK:
        return None
    try:
        return read(json.loads(reply.body))
    except (ValueError, KeyError, TypeError, IndexError):
        return None
