"""A case for every test of judging: a shop whose checkout fails after a deploy."""

import itertools
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from engine.host_watch import HostWatch
from engine.investigation.cache import CacheWatch
from engine.investigation.session import JudgePorts
from engine.model.alert import Alert, AlertClass, AlertStatus, Severity
from engine.model.event import EventFacts, SessionEvent
from engine.model.finding import Finding
from engine.model.incident import (
    AlertGroup,
    Incident,
    IncidentState,
    JoinReason,
    Member,
    MemberState,
)
from engine.model.pack import (
    AlertFacts,
    Anchor,
    CanWait,
    CauseClass,
    ChangeFacts,
    ChangeKind,
    Impact,
    ImpactReason,
    Item,
    MetricDigest,
    OnsetSource,
    Pack,
    Section,
    SectionName,
    SectionStatus,
    Suspect,
    SuspectReason,
)
from engine.model.policy import Budget, TriageRule
from engine.model.run import Run, RunState, RunTrigger
from engine.ports import LLM, Embedder, EvidenceTool, QueryArbiter
from engine.triage import judge
from tests.fakes import LoopClock, MemoryStore, ScriptedLLM, run

ONSET = datetime(2026, 11, 30, 2, 45, tzinfo=UTC)
FIRED = datetime(2026, 11, 30, 3, 0, tzinfo=UTC)
TAKEN = datetime(2026, 11, 30, 3, 1, tzinfo=UTC)
SCOPE = {"namespace": "checkout", "service": "checkout-api"}
EXPRESSION = 'sum(rate(http_errors_total{service="checkout-api"}[5m])) > 5'
FENCE = "f" * 32


def alert(**labels: str) -> Alert:
    return Alert(
        source="alertmanager",
        status=AlertStatus.FIRING,
        severity=Severity.CRITICAL,
        labels={"alertname": "CheckoutErrors", **SCOPE, **labels},
        starts_at=FIRED,
    )


def incident(*scopes: Mapping[str, str], labels: Mapping[str, str] | None = None) -> Incident:
    many = scopes or (SCOPE,)
    groups = tuple(
        AlertGroup(
            id=f"g{n}",
            client_id="acme",
            family_key=f"f{n}",
            rule="CheckoutErrors",
            scope=scope,
            alert_class=AlertClass.SYMPTOM,
        )
        for n, scope in enumerate(many)
    )
    members = tuple(
        Member(
            alert=alert(**{**(labels or {}), "n": group.id}),
            group_id=group.id,
            state=MemberState.FIRING,
            joined_at=FIRED,
            last_seen_at=FIRED,
            reason=JoinReason.OPENED,
        )
        for group in groups
    )
    return Incident(
        id="inc1",
        client_id="acme",
        number=7,
        state=IncidentState.OPEN,
        severity=Severity.CRITICAL,
        alert_class=AlertClass.SYMPTOM,
        opened_at=FIRED,
        activity_at=FIRED,
        settle_at=FIRED,
        window_until=FIRED + timedelta(minutes=5),
        groups=groups,
        members=members,
    )


ALERT = Item(
    id="A1",
    text="CheckoutErrors fires on checkout-api",
    facts=AlertFacts(
        rule="CheckoutErrors",
        severity=Severity.CRITICAL,
        alert_class=AlertClass.SYMPTOM,
        labels=SCOPE,
        count=1,
        firing=1,
        starts_at=FIRED,
    ),
)


def metric(
    id_: str,
    name: str,
    deviation: float | None,
    *,
    own: bool = False,
    changed_s: float | None = None,
    last: float = 9.0,
    **labels: str,
) -> Item:
    facts = MetricDigest(
        name=name,
        query=name,
        labels=labels or {"service": "checkout-api"},
        minimum=0,
        mean=1,
        maximum=9,
        last=last,
        baseline=1,
        deviation=deviation,
        sparkline="▁▁█",
        changed_at=None if changed_s is None else ONSET + timedelta(seconds=changed_s),
        own_expression=own,
    )
    return Item(id=id_, text=f"{name} deviates by {deviation}", facts=facts)


def change(
    id_: str, component: str, onset_s: float, what: str = "v2.4.1", kind: str = "deploy"
) -> Item:
    at = ONSET + timedelta(seconds=onset_s)
    facts = ChangeFacts(
        change=ChangeKind(kind),
        at=at,
        offset_s=(at - FIRED).total_seconds(),
        onset_offset_s=onset_s,
        component=component,
        what=what,
        source="ci",
    )
    return Item(
        id=id_, text=f"deploy of {component} {what}, {onset_s:+.0f} s from onset", facts=facts
    )


OWN = metric("M1", "checkout errors", 14, own=True, changed_s=0)
POOL = metric("M2", "checkout-api db pool in use", 8, changed_s=-10)
DEPLOY = change("D1", "checkout-api", -240)


def pack(*items: Item, degraded: tuple[SectionName, ...] = ()) -> Pack:
    given = items or (ALERT, OWN, POOL, DEPLOY)
    of = {"A": SectionName.ALERTS, "M": SectionName.METRICS, "D": SectionName.DEPLOYS}
    named: dict[SectionName, list[Item]] = {}
    for item in given:
        named.setdefault(of[item.id[0]], []).append(item)
    sections = [
        Section(name=name, status=SectionStatus.OK, items=tuple(found))
        for name, found in named.items()
    ]
    sections += [Section(name=name, status=SectionStatus.DEGRADED) for name in degraded]
    return Pack(
        anchor=Anchor(
            incident_id="inc1",
            client_id="acme",
            rule="CheckoutErrors",
            severity=Severity.CRITICAL,
            alert_class=AlertClass.SYMPTOM,
            summary="checkout answers with errors",
            environment="prod",
            service="checkout-api",
            host=None,
            grouping_key=SCOPE,
            fired_at=FIRED,
            active_at=FIRED,
            onset_at=ONSET,
            onset_source=OnsetSource.CHANGE_POINT,
            expression=EXPRESSION,
            taken_at=TAKEN,
        ),
        sections=tuple(sections),
        impact=Impact(can_wait=CanWait.NO, reason=ImpactReason.USERS_HIT, error_share=0.4),
        suspects=(
            Suspect(
                component="checkout-api",
                cause_class=CauseClass.DEPLOY,
                score=0.8,
                reasons=(SuspectReason.CHANGED_NEAR_ONSET,),
                text="deploy v2.4.1 four minutes before onset",
                evidence_ids=("D1",),
            ),
        ),
    )


def a_run(**changes: Any) -> Run:
    facts = {
        "triage_id": "t1",
        "incident_id": "inc1",
        "client_id": "acme",
        "trigger": RunTrigger.AUTO,
        "state": RunState.INVESTIGATING,
        "created_at": FIRED,
        "fence": FENCE,
    }
    return Run(**{**facts, **changes})


PLAN = [{"kind": "promql", "query": 'db_pool_in_use{service="checkout-api"}', "why": "low"}]


def drafted(
    cause: str | None = "The deploy v2.4.1 exhausts the pool.",
    component: str | None = "checkout-api",
    cause_class: str | None = "deploy",
    confidence: float | None = 0.6,
    claims: Any = None,
    plan: Any = None,
    **more: Any,
) -> str:
    own = [
        {"text": "v2.4.1 came 4 min before", "evidence_ids": ["D1"], "key": True},
        {"text": "the pool is full", "evidence_ids": ["M2"], "key": True},
    ]
    body = {
        "root_cause": cause,
        "component": component,
        "cause_class": cause_class,
        "claims": own if claims is None else claims,
        "confidence": confidence,
        "missing": "" if cause else "no metric of the pool",
        "next_step": "Look at the pool of checkout-api.",
        "disprove": PLAN if plan is None else plan,
    }
    return json.dumps({"draft": {**body, **more}})


def ruled(
    *rulings: str,
    cause: str | None = "The deploy v2.4.1 exhausts the pool.",
    component: str | None = "checkout-api",
    cause_class: str | None = "deploy",
    confidence: float | None = 0.82,
    cites: tuple[str, ...] = ("R3",),
    **more: Any,
) -> str:
    words = rulings or ("supported", "supported")
    listed = [
        {"claim": n, "text": "", "key": True, "ruling": word, "evidence_ids": list(cites)}
        for n, word in enumerate(words, start=1)
    ]
    body = {
        "root_cause": cause,
        "component": component,
        "cause_class": cause_class,
        "rulings": listed,
        "confidence": confidence,
        "missing": "",
        "next_step": "",
    }
    return json.dumps({"judgement": {**body, **more}})


def abstaining() -> str:
    return drafted(cause=None, component=None, cause_class=None, confidence=None, claims=[])


UP: Mapping[str, Any] = {"sum(up": 34, "count(up": 37, "db_pool_in_use": 20}


@dataclass
class Table:
    """Everything a triage of the test case leaves behind."""

    llm: ScriptedLLM
    metrics: EvidenceTool | None = None
    arbiter: QueryArbiter | None = None
    rule: TriageRule = field(default_factory=TriageRule)
    store: MemoryStore = field(default_factory=MemoryStore)
    cache: CacheWatch = field(default_factory=CacheWatch)
    extra: Mapping[str, str] = field(default_factory=dict)
    logs: EvidenceTool | None = None
    redact: Callable[[str], str] = str
    embedder: Embedder | None = None
    hosts: HostWatch | None = None
    budget: Budget | None = None
    told: list[tuple[SessionEvent, EventFacts]] = field(default_factory=list)
    progress: list[str] = field(default_factory=list)

    def triage(self, pack_: Pack | None = None, case: Incident | None = None) -> Finding:
        return run(self.judged(pack_ or pack(), case or incident()))

    async def judged(self, pack_: Pack, case: Incident, run_: Run | None = None) -> Finding:
        return await judge(
            run_ or a_run(), case, pack_, self.ports, rule=self.rule, progress=self.heard
        )

    async def heard(self, line: str) -> None:
        self.progress.append(line)

    async def events(self, kind: SessionEvent, facts: EventFacts) -> None:
        self.told.append((kind, facts))

    def of(self, kind: SessionEvent) -> list[EventFacts]:
        return [facts for told, facts in self.told if told is kind]

    @property
    def ports(self) -> JudgePorts:
        numbers = itertools.count(1)
        llm: LLM = self.llm
        return JudgePorts(
            store=self.store,  # type: ignore[arg-type]
            llm=llm,
            clock=LoopClock(),
            new_id=lambda: f"{next(numbers):032x}",
            events=self.events,
            price=lambda _model, usage: usage.output_tokens / 1000,
            cache=self.cache,
            embedder=self.embedder,
            metrics=self.metrics,
            arbiter=self.arbiter,
            extra_matchers=self.extra,
            logs=self.logs,
            redact=self.redact,
            hosts=self.hosts,
            budget=self.budget,
        )
