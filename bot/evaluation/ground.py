"""A case on which any model can be tried: incident, frozen pack, and metrics to check against."""

from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime

from bot.backends.clock import SystemClock
from bot.backends.http import BoundedHttp
from bot.backends.prices import cost_usd
from bot.cli.unstored import incidents_of
from bot.compose import fresh_id
from bot.drill.doubles.prometheus import MetricsDouble
from bot.drill.doubles.serve import serve
from bot.drill.scenario import Scenario, Stage, active_alerts, alertmanager_post, rule_groups
from bot.sources import alertmanager, changes
from bot.tools.prometheus import PrometheusSettings, PrometheusTool
from engine.investigation.cache import CacheWatch
from engine.investigation.calls import Price
from engine.investigation.session import JudgePorts
from engine.model.base import canonical_json
from engine.model.change import Change
from engine.model.event import EventFacts, SessionEvent
from engine.model.finding import Finding
from engine.model.incident import Incident
from engine.model.pack import Pack
from engine.model.policy import PackRule, TriageRule, VerificationRule
from engine.model.run import Run, RunState, RunTrigger
from engine.pack.build import build
from engine.pack.section import Ports, Subject
from engine.ports import LLM, Clock, EvidenceTool, Store
from engine.redact import Redactor
from engine.triage import judge

PATIENT_S = 60.0
"""What a case's own metrics may take: a busy machine must not change what is found."""
PATIENT = TriageRule(verification=VerificationRule(query_timeout_seconds=PATIENT_S))
_PACK = PackRule(section_timeout_s=PATIENT_S, timeout_s=2 * PATIENT_S)
CLUSTER = "eval"
SOURCE = "alertmanager"


@dataclass(frozen=True)
class ToldChanges:
    """The changes of one case."""

    told: Sequence[Change] = ()

    async def between(self, start_at: datetime, end_at: datetime) -> list[Change]:
        """Changes, newest first."""
        inside = [change for change in self.told if start_at <= change.at <= end_at]
        return sorted(inside, key=lambda change: change.at, reverse=True)

    async def sources(self) -> int:
        """How many change sources there are."""
        return len({change.source for change in self.told})


@dataclass
class Ground:
    """A case that stands still while models are tried on it."""

    incident: Incident
    pack: Pack
    metrics: EvidenceTool
    clock: Clock = field(default_factory=SystemClock)
    heard: list[tuple[SessionEvent, EventFacts]] = field(default_factory=list)
    """Every step of the last triage."""

    async def judged(
        self, llm: LLM, store: Store, *, rule: TriageRule | None = None, price: Price = cost_usd
    ) -> Finding:
        """Have the case judged as a real one is.

        Raises:
            EngineError: the model failed, as a real triage would.
        """
        self.heard.clear()
        ports = JudgePorts(
            store=store,
            llm=llm,
            clock=self.clock,
            new_id=fresh_id,
            events=self._hear,
            price=price,
            cache=CacheWatch(),
            metrics=self.metrics,
            arbiter=self.metrics if isinstance(self.metrics, PrometheusTool) else None,
        )
        return await judge(
            run_of(self.incident, self.clock),
            self.incident,
            self.pack,
            ports,
            rule=rule or PATIENT,
            progress=_silently,
        )

    async def _hear(self, kind: SessionEvent, facts: EventFacts) -> None:
        self.heard.append((kind, facts))


async def _silently(_: str) -> None:
    """Show no progress to anyone."""


def run_of(incident: Incident, clock: Clock) -> Run:
    """A run that is about to ask its model."""
    return Run(
        triage_id=fresh_id(),
        incident_id=incident.id,
        client_id=incident.client_id,
        trigger=RunTrigger.MANUAL,
        state=RunState.INVESTIGATING,
        created_at=clock.now(),
        fence=fresh_id(),
    )


@asynccontextmanager
async def metrics_of(double: MetricsDouble, clock: Clock) -> AsyncIterator[PrometheusTool]:
    """A metrics double over loopback and the tool that asks it."""
    async with serve(double.app) as url:
        settings = PrometheusSettings(url=url, timeout_s=PATIENT_S)
        http = BoundedHttp(settings, clock)
        try:
            yield PrometheusTool(http, settings, clock)
        finally:
            await http.close()


@asynccontextmanager
async def ground_of(scenario: Scenario) -> AsyncIterator[Ground]:
    """Set a rehearsed failure up: its pack is gathered by the engine, from its metrics."""
    clock = SystemClock()
    stage = Stage(cluster=CLUSTER, now=clock.now())
    double = MetricsDouble(clock.now)
    scenario.plant(double, stage)
    double.groups = rule_groups(stage, scenario)
    double.alerts = active_alerts(stage, scenario)
    async with metrics_of(double, clock) as tool:
        rules = {rule.name: rule.expression for rule in scenario.rules(stage)}
        incident = _incident(scenario, stage, rules)
        ports = Ports(
            clock=clock,
            redact=Redactor([]).text,
            metrics=tool,
            rules=tool,
            changes=ToldChanges([*_changes(scenario, stage)]),
        )
        pack = await build(Subject(incident=incident, pack=_PACK), ports)
        yield Ground(incident=incident, pack=pack, metrics=tool, clock=clock)


def _incident(scenario: Scenario, stage: Stage, rules: dict[str, str]) -> Incident:
    """Group the scenario's alerts as intake does; the incident that holds most of them."""
    post = alertmanager_post(stage, scenario.alerts(stage), resolved=False)
    parsed = alertmanager.read(canonical_json(post).encode(), stage.now, SOURCE)
    found = incidents_of(parsed.alerts, stage.now, expressions=rules).incidents
    return max(found, key=lambda incident: len(incident.members))


def _changes(scenario: Scenario, stage: Stage) -> Iterable[Change]:
    for told in scenario.changes(stage):
        yield from changes.read(canonical_json(told).encode(), stage.now, "ci").changes
