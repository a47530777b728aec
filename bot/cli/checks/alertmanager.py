"""Alertmanager: what fires, and how often it repeats itself."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

import yaml

from bot.backends.http import BoundedHttp
from bot.backends.of_client import Backends
from bot.cli.checks.line import Line, absent, bad, ok
from bot.cli.reference import duration
from bot.cli.unreachable import why
from engine.model.alert import Alert
from engine.model.evidence import Gap
from engine.model.policy import seconds

PART = "alertmanager"
DEFAULT_REPEAT_S = 4 * 3600.0
_OK = 200


def not_configured() -> Line:
    """No Alertmanager is polled."""
    return absent(
        PART,
        "not polled",
        "set alertmanager: {url: …} in caveat.yaml",
        "alerts come by webhook only; a resolve that is lost is found by nobody",
    )


async def alertmanager(
    backends: Backends, url: str, stale_ttl_s: float
) -> tuple[list[Line], Sequence[Alert]]:
    """Ask it; the alerts that fire come with the lines."""
    assert backends.alerts is not None, "the caller looked"
    assert backends.alerts_http is not None, "it has one connection"
    firing = await backends.alerts.firing()
    if isinstance(firing, Gap):
        happened, cure = why("Alertmanager", url, firing)
        return [bad(PART, happened, cure, "alerts come by webhook only")], ()
    line = ok(PART, f"{len(firing)} firing at {url}, polled every {backends.poll_s:g} s")
    return [line, await _repeat(backends.alerts_http, stale_ttl_s)], firing


async def _repeat(http: BoundedHttp, stale_ttl_s: float) -> Line:
    part = "repeat_interval"
    longest_s = await _longest_repeat(http)
    if longest_s is None:
        return absent(part, "not told", "allow /api/v2/status", "nothing while it is polled")
    said, ttl = duration(longest_s), duration(stale_ttl_s)
    if longest_s >= stale_ttl_s:
        note = "harmless while it is polled; for webhooks alone raise incident.stale_ttl"
        return ok(part, f"{said}, not under the stale time of {ttl}: {note}")
    return ok(part, f"{said}, under the stale time of {ttl}")


async def _longest_repeat(http: BoundedHttp) -> float | None:
    reply = await http.get("/api/v2/status")
    if isinstance(reply, Gap) or reply.status != _OK:
        return None
    try:
        config = yaml.safe_load(json.loads(reply.body)["config"]["original"])
        return max(repeats_of(config["route"], DEFAULT_REPEAT_S))
    except (ValueError, KeyError, TypeError, yaml.YAMLError):
        return None


def repeats_of(route: Any, inherited_s: float) -> Iterator[float]:
    """How often each route repeats; one that says nothing does as the one above it."""
    own_s = _seconds(route.get("repeat_interval"), inherited_s)
    yield own_s
    for below in route.get("routes") or ():
        yield from repeats_of(below, own_s)


def _seconds(text: object, otherwise: float) -> float:
    """Read Prometheus's `1h30m` as well as our own form."""
    if not isinstance(text, str):
        return otherwise
    found = [seconds(part) for part in _parts(text)]
    numbers = [one for one in found if isinstance(one, float)]
    return sum(numbers) if numbers and len(numbers) == len(found) else otherwise


def _parts(text: str) -> Iterator[str]:
    part = ""
    for letter in text:
        part += letter
        if letter.isalpha():
            yield f"{float(part[:-1]) * 7:g}d" if letter == "w" and part[:-1] else part
            part = ""
