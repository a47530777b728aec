"""`caveat look`: what fires now, as facts cards; read-only, nothing stored, sent or spent."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError
from rich.console import Console

from bot.backends.clock import SystemClock
from bot.backends.of_client import Backends, Metrics, connect
from bot.cli.errors import CommandError
from bot.cli.unreachable import why
from bot.cli.unstored import Unstored, case_of, incidents_of, masked
from bot.config import BackendSettings, ClientSettings, Settings, load
from bot.sources.prometheus_alerts import from_prometheus
from cards.draw import card as draw
from cards.render.terminal import render
from engine.model.alert import Alert
from engine.model.evidence import Gap, GapCause
from engine.pack.section import Ports
from engine.redact import Redactor

SOURCE = "alertmanager"
_OK = 200


@dataclass(frozen=True)
class Asked:
    """What the person wants to see."""

    prometheus: str | None = None
    alertmanager: str | None = None
    config: Path | None = None
    client: str | None = None
    limit: int = 5


def look(asked: Asked, console: Console | None = None) -> None:
    """Print the worst of what fires; addresses not given are those of caveat.yaml.

    Raises:
        CommandError: no address is known, or none of them answers.
    """
    settings = load(asked.config)
    own = _client(settings, asked)
    redactor = Redactor(settings.secrets)
    asyncio.run(_look(settings, own, asked.limit, redactor, console or Console()))


def _client(settings: Settings, asked: Asked) -> ClientSettings:
    known = settings.by_client
    name = asked.client or next(iter(known))
    if name not in known:
        raise CommandError(f"no client named {name!r}; there are {', '.join(known)}")
    given = {
        key: _backend(key, url)
        for key, url in (("prometheus", asked.prometheus), ("alertmanager", asked.alertmanager))
        if url is not None
    }
    own = known[name].model_copy(update=given)
    if own.prometheus is None and own.alertmanager is None:
        raise CommandError(
            "nowhere to look: give --prometheus URL and --alertmanager URL (one will do)"
        )
    return own


def _backend(key: str, url: str) -> BackendSettings:
    try:
        return BackendSettings(url=url.rstrip("/"))
    except ValidationError:
        raise CommandError(f"--{key} {url}: write it as http://host:port") from None


async def _look(
    settings: Settings, own: ClientSettings, limit: int, redactor: Redactor, console: Console
) -> None:
    async with _connected(own) as (backends, clock):
        if backends.metrics is not None:
            await backends.metrics.refresh()
            await _warn_if_blind(backends.metrics, own, console)
        alerts = [masked(one, redactor) for one in await _firing(backends, own, clock)]
        known = backends.metrics.expressions if backends.metrics else {}
        found = incidents_of(
            alerts, clock.now(), correlation=settings.correlation, expressions=known
        )
        ports = Ports(
            clock=clock,
            redact=redactor.text,
            metrics=backends.metrics.guarded if backends.metrics else None,
            rules=backends.metrics.tool if backends.metrics else None,
        )
        shown = found.incidents[:limit]
        cases = await asyncio.gather(*(case_of(incident, ports) for incident in shown))
    for case in cases:
        console.print(render(draw(case, clock.now(), offered=())))
    console.print(_summary(found, len(alerts), len(shown)), markup=False, highlight=False)


@asynccontextmanager
async def _connected(own: ClientSettings) -> AsyncIterator[tuple[Backends, SystemClock]]:
    clock = SystemClock()
    backends = connect(own, clock, SOURCE)
    try:
        yield backends, clock
    finally:
        await backends.close()


async def _warn_if_blind(metrics: Metrics, own: ClientSettings, console: Console) -> None:
    """Say that cards will lack metrics; what fires may still be known from Alertmanager."""
    if metrics.server is not None or own.alertmanager is None:
        return
    gap = await metrics.tool.server_info()
    if isinstance(gap, Gap) and own.prometheus is not None:
        happened, cure = why("Prometheus", own.prometheus.url, gap)
        line = f"{happened}; the cards hold no metrics. {cure}"
        console.print(line, markup=False, highlight=False)


async def _firing(backends: Backends, own: ClientSettings, clock: SystemClock) -> Sequence[Alert]:
    if backends.alerts is not None and own.alertmanager is not None:
        name, url = "Alertmanager", own.alertmanager.url
        found = await backends.alerts.firing()
    else:
        assert backends.metrics is not None, "one backend is always configured"
        assert own.prometheus is not None, "metrics come from it"
        name, url = "Prometheus", own.prometheus.url
        found = await _firing_in_prometheus(backends.metrics, clock)
    if isinstance(found, Gap):
        raise CommandError(". ".join(why(name, url, found)))
    return found


async def _firing_in_prometheus(metrics: Metrics, clock: SystemClock) -> Sequence[Alert] | Gap:
    reply = await metrics.http.get("/api/v1/alerts")
    if isinstance(reply, Gap):
        return reply
    if reply.status != _OK:
        return reply.refusal()
    try:
        rows = json.loads(reply.body)["data"]["alerts"]
    except (ValueError, KeyError, TypeError):
        return Gap(cause=GapCause.GARBLED, detail="not the JSON of a Prometheus")
    read = [from_prometheus(row, clock.now(), SOURCE) for row in rows]
    return [one[0] for one in read if isinstance(one, tuple)]


def _summary(found: Unstored, alerts: int, shown: int) -> str:
    """One line under the cards: everything that fires is in one of its numbers."""
    if not alerts:
        return "Nothing fires."
    rest = len(found.incidents) - shown
    parts = [f"{rest} more (--limit shows them)"] if rest else []
    total = f"{_many(alerts, 'alert')} firing, {_many(len(found.incidents), 'incident')}"
    parts.append(total)
    if found.heartbeats:
        parts.append(f"{_many(found.heartbeats, 'heartbeat')} beating")
    if found.silent:
        parts.append(f"{found.silent} too slight for a card")
    return "; ".join(parts) + ". Nothing was stored, sent or spent."


def _many(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
