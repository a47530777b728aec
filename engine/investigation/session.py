"""One triage at work: its case, the world it may touch, and what all its calls have in common."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from engine.host_watch import HostWatch
from engine.investigation.bounds import Bounds
from engine.investigation.cache import CacheWatch
from engine.investigation.calls import Caller, Price
from engine.investigation.conclude import Setting
from engine.investigation.ledger import Ledger
from engine.investigation.tool import Bench
from engine.investigation.tools.table import offered
from engine.model.incident import Incident
from engine.model.ledger import Bound, ToolName
from engine.model.pack import Pack
from engine.model.policy import Budget, CorrelationRule, TriageRule
from engine.model.run import Run
from engine.ports import LLM, Clock, Embedder, Events, EvidenceTool, NewId, QueryArbiter, Store
from engine.promql.server import ServerInfo
from engine.verification.kind import Reach, Subject


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
    budget: Budget | None = None
    embedder: Embedder | None = None
    """None where memory cannot be searched by likeness."""
    metrics: EvidenceTool | None = None
    arbiter: QueryArbiter | None = None
    server: ServerInfo | None = None
    logs: EvidenceTool | None = None
    log_matchers: Mapping[str, str] = field(default_factory=dict)
    kubernetes: EvidenceTool | None = None
    compliance: EvidenceTool | None = None
    redact: Callable[[str], str] = str
    """Takes secrets out of what tools return."""
    extra_matchers: Mapping[str, str] = field(default_factory=dict)
    hosts: HostWatch | None = None
    correlation: CorrelationRule = field(default_factory=CorrelationRule)

    def hearing(self, events: Events) -> "JudgePorts":
        """The same world with a listener of one's own."""
        return replace(self, events=events)

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
    bench: Bench
    setting: Setting
    """Changes once at most: when the model's name was refused and the other is asked."""
    ledger: Ledger = field(default_factory=Ledger)
    """What was looked up beyond the pack."""
    vanished: tuple[ToolName, ...] = ()
    """Tools the run before could ask and this one cannot."""
    bound: Bound | None = None
    """What stopped the last looking."""

    @classmethod
    def begin(
        cls, run: Run, incident: Incident, pack: Pack, ports: JudgePorts, rule: TriageRule
    ) -> "Session":
        """Fix what every call of the run has in common."""
        caching = ports.llm.capabilities.prompt_cache and ports.cache.pays(rule.model)
        caller = Caller(
            run,
            ports.store,
            ports.llm,
            ports.clock,
            ports.new_id,
            ports.events,
            ports.price,
            ports.budget,
            ports.cache if caching else None,
        )
        bench = Bench(
            subject=Subject(incident=incident, pack=pack),
            reach=ports.reach,
            logs=ports.logs,
            log_matchers=ports.log_matchers,
            kubernetes=ports.kubernetes,
            compliance=ports.compliance,
        )
        bounds = Bounds.of(rule)
        tools = offered(bench).values() if bounds.open and rule.verification.enabled else ()
        setting = Setting(
            fence=run.fence,
            model=rule.model,
            metrics=ports.metrics is not None,
            caching=caching,
            tools=tuple(tool.spec for tool in tools),
            loops=bounds.loops,
        )
        return cls(run, incident, pack, ports, rule, caller, bench, setting)

    def rest_on(self, pack: Pack) -> None:
        """Go on with another revision of the pack."""
        self.pack = pack
        subject = Subject(incident=self.incident, pack=pack)
        self.bench = replace(self.bench, subject=subject)
