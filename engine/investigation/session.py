"""One triage at work: its case, the world it may touch, and what all its calls have in common."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from engine.host_watch import HostWatch
from engine.investigation.cache import CacheWatch
from engine.investigation.calls import Caller, Price
from engine.investigation.conclude import Setting
from engine.model.incident import Incident
from engine.model.pack import Pack
from engine.model.policy import CorrelationRule, TriageRule
from engine.model.run import Run
from engine.ports import LLM, Clock, Embedder, Events, EvidenceTool, NewId, QueryArbiter, Store
from engine.promql.server import ServerInfo
from engine.verification.kind import Reach


@dataclass(frozen=True)
class JudgePorts:
    """The world as a triage sees it; the client is bound in the backends."""

    store: Store
    llm: LLM
    clock: Clock
    new_id: NewId
    events: Events
    price: Price
    cache: CacheWatch
    embedder: Embedder | None = None
    """None where memory cannot be searched by likeness."""
    metrics: EvidenceTool | None = None
    arbiter: QueryArbiter | None = None
    server: ServerInfo | None = None
    extra_matchers: Mapping[str, str] = field(default_factory=dict)
    hosts: HostWatch | None = None
    correlation: CorrelationRule = field(default_factory=CorrelationRule)

    @property
    def reach(self) -> Reach:
        """What the checks of the round can touch."""
        return Reach(
            store=self.store,
            clock=self.clock,
            metrics=self.metrics,
            arbiter=self.arbiter,
            server=self.server,
            extra_matchers=self.extra_matchers,
            hosts=self.hosts,
            correlation=self.correlation,
        )


@dataclass
class Session:
    """A run with its case, its rule and its calls."""

    run: Run
    incident: Incident
    pack: Pack
    ports: JudgePorts
    rule: TriageRule
    caller: Caller
    setting: Setting
    """Changes once at most: when the model's name was refused and the other is asked."""

    @classmethod
    def begin(
        cls, run: Run, incident: Incident, pack: Pack, ports: JudgePorts, rule: TriageRule
    ) -> "Session":
        """Fix what every call of the run has in common."""
        caller = Caller(
            run, ports.store, ports.llm, ports.clock, ports.new_id, ports.events, ports.price
        )
        setting = Setting(
            fence=run.fence,
            model=rule.model,
            metrics=ports.metrics is not None,
            caching=ports.llm.capabilities.prompt_cache and ports.cache.pays(rule.model),
        )
        return cls(run, incident, pack, ports, rule, caller, setting)
