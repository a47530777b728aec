"""The backends of one client, and what is known of their rules right now."""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import Generic, TypeVar

from bot import config
from bot.backends.breaker import Breaker, Fuse
from bot.backends.http import BackendSettings, BoundedHttp
from bot.backends.scoped import Scoped
from bot.sources.prometheus_alerts import Polled, from_alertmanager
from bot.tools.alertmanager import AlertmanagerAlerts, Row
from bot.tools.compliance import ComplianceFile
from bot.tools.kubernetes import KubernetesSettings, KubernetesTool
from bot.tools.loki import LokiSettings, LokiTool
from bot.tools.prometheus import PrometheusSettings, PrometheusTool, ServerFacts
from bot.tools.zabbix import ZabbixHosts
from engine.model.alert import Alert
from engine.model.evidence import Answered, Gap, Question
from engine.ports import Clock, EvidenceTool
from engine.promql.server import ServerInfo

log = logging.getLogger(__name__)

NAMES: Mapping[str, str] = {
    "targets": "group by (namespace, service, job, host, node) (up)",
    "deployments": "group by (namespace, deployment) (kube_deployment_status_replicas)",
}
"""What tells the names of services and hosts; the second needs kube-state-metrics."""
REFRESH_S = 60.0
"""How often a server is asked for its rules and its version."""


@dataclass
class Metrics:
    """A Prometheus: the tool, its breaker, and what it said of itself last."""

    tool: PrometheusTool
    guarded: Breaker
    http: BoundedHttp
    extra_matchers: dict[str, str]
    server: ServerInfo | None = None
    """None until it answered."""
    expressions: dict[str, str] = field(default_factory=dict)
    """Of its alerting rules, by name."""
    names: tuple[Mapping[str, str], ...] = ()
    """Label sets of what it watches: the names people use."""

    async def refresh(self) -> None:
        """Ask for version and rules; what was known stays when it does not answer."""
        said = await self.tool.server_info()
        if isinstance(said, ServerFacts):
            self.server = ServerInfo.of(said.version, said.features)
        rules = await self.tool.rules()
        if not isinstance(rules, Gap):
            self.expressions = {rule.name: rule.expression for rule in rules}
        self.names = await self._asked_names() or self.names

    async def _asked_names(self) -> tuple[Mapping[str, str], ...]:
        scoped = Scoped(self.guarded, self.extra_matchers)
        said = await scoped.ask(Question(tool=scoped.name, queries=NAMES))
        if not isinstance(said, Answered):
            return ()
        found = (series.labels for series in chain.from_iterable(said.results.values()))
        return tuple({k: v for k, v in labels.items() if v} for labels in found)

    async def keep_fresh(self, clock: Clock) -> None:
        """Refresh for ever."""
        while True:
            await self.refresh()
            await clock.sleep(REFRESH_S)


Tool = TypeVar("Tool", bound=EvidenceTool)


@dataclass
class Asked(Generic[Tool]):
    """A backend that answers in lines: the pack and an investigation ask it through one breaker."""

    tool: Tool
    guarded: Breaker
    http: BoundedHttp
    matchers: dict[str, str]


@dataclass
class Backends:
    """What one client has configured; None is not configured."""

    metrics: Metrics | None = None
    alerts: AlertmanagerAlerts | None = None
    alerts_http: BoundedHttp | None = None
    logs: Asked[LokiTool] | None = None
    kubernetes: Asked[KubernetesTool] | None = None
    compliance: ComplianceFile | None = None
    hosts: ZabbixHosts | None = None
    hosts_http: BoundedHttp | None = None
    poll_s: float = 15

    async def close(self) -> None:
        """Close every connection."""
        asked = [own.http for own in (self.metrics, self.logs, self.kubernetes) if own is not None]
        for http in (*asked, self.alerts_http, self.hosts_http):
            if http is not None:
                await http.close()


def connect(settings: config.ClientSettings, clock: Clock, alert_source: str) -> Backends:
    """Make the clients of a client's backends; nothing is asked yet.

    Args:
        settings: what the client declares.
        clock: time.
        alert_source: name its polled alerts carry; the same as its webhook's, so that one alert
            is one event whichever way it comes.
    """
    backends = Backends()
    if settings.prometheus is not None:
        backends.metrics = _metrics(settings.prometheus, clock)
    if settings.alertmanager is not None:
        http = BoundedHttp(BackendSettings(**_reached(settings.alertmanager)), clock)
        backends.alerts_http = http
        backends.poll_s = settings.alertmanager.poll
        backends.alerts = AlertmanagerAlerts(http, lambda rows: _read(rows, clock, alert_source))
    if settings.zabbix is not None:
        backends.hosts_http, backends.hosts = _hosts(settings.zabbix, clock)
    backends.logs = _logs(settings.loki, clock)
    backends.kubernetes = _kubernetes(settings.kubernetes, clock)
    if settings.compliance_file is not None:
        backends.compliance = ComplianceFile(settings.compliance_file, clock)
    return backends


def _logs(settings: config.BackendSettings | None, clock: Clock) -> Asked[LokiTool] | None:
    if settings is None:
        return None
    reached = LokiSettings.model_validate(_reached(settings))
    http = BoundedHttp(reached, clock)
    tool = LokiTool(http, reached)
    return Asked(tool, Breaker(tool, clock), http, dict(settings.extra_matchers))


def _kubernetes(
    settings: config.BackendSettings | None, clock: Clock
) -> Asked[KubernetesTool] | None:
    if settings is None:
        return None
    matchers = dict(settings.extra_matchers)
    own = {**_reached(settings), "namespace": matchers.get("namespace")}
    reached = KubernetesSettings.model_validate(own)
    http = BoundedHttp(reached, clock)
    tool = KubernetesTool(http, reached)
    return Asked(tool, Breaker(tool, clock), http, matchers)


def _hosts(settings: config.BackendSettings, clock: Clock) -> tuple[BoundedHttp, ZabbixHosts]:
    """Where the token goes depends on the version, so it is kept out of the connection."""
    reached = BackendSettings(**_reached(settings))
    http = BoundedHttp(reached.model_copy(update={"bearer": None}), clock)
    return http, ZabbixHosts(http, reached.bearer, Fuse(clock))


def _metrics(settings: config.BackendSettings, clock: Clock) -> Metrics:
    reached = PrometheusSettings(**_reached(settings))
    http = BoundedHttp(reached, clock)
    tool = PrometheusTool(http, reached, clock)
    return Metrics(tool, Breaker(tool, clock), http, dict(settings.extra_matchers))


def _reached(settings: config.BackendSettings) -> dict[str, object]:
    user, password = _pair(settings.basic_file)
    return {
        "url": settings.url,
        "proxy": settings.proxy,
        "ca_file": str(settings.ca_file) if settings.ca_file else None,
        "bearer": _content(settings.bearer_file),
        "basic_user": user,
        "basic_password": password,
        "tenant": settings.tenant,
    }


def _content(path: Path | None) -> str | None:
    return None if path is None else path.read_text(encoding="utf-8").strip()


def _pair(path: Path | None) -> tuple[str | None, str | None]:
    user, _, password = (_content(path) or "").partition(":")
    return (user, password) if user else (None, None)


def _read(rows: Sequence[Row], clock: Clock, source: str) -> Sequence[Alert]:
    now: datetime = clock.now()
    read = [from_alertmanager(row, now, source) for row in rows]
    lost = sum(not isinstance(one, Polled) for one in read)
    if lost:
        log.warning("%s: %d alerts of a poll could not be read", source, lost)
    return [one.alert for one in read if isinstance(one, Polled)]


async def refresh_all(backends: Sequence[Backends]) -> None:
    """Ask every Prometheus for its version and rules, all at once."""
    async with asyncio.TaskGroup() as group:
        for one in backends:
            if one.metrics is not None:
                group.create_task(one.metrics.refresh())
