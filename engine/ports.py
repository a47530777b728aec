"""The outside world on one page: everything the engine needs and does not do itself."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple, Protocol

from engine.model.alert import Alert, Severity
from engine.model.base import Frozen
from engine.model.change import Change
from engine.model.chart import Chart
from engine.model.correction import Correction
from engine.model.event import EventFacts, SessionEvent
from engine.model.evidence import Gap, Outcome, Question
from engine.model.finding import Finding
from engine.model.incident import Incident, IncidentState
from engine.model.ledger import LedgerEntry, ToolName
from engine.model.llm import Capabilities, ModelReply, ModelRequest
from engine.model.memory import Near, Stub
from engine.model.org import Client, Room
from engine.model.outage import Outage
from engine.model.pack import Pack
from engine.model.review import Given, Label, ReviewReason
from engine.model.run import CallKind, CaseFile, ModelCall, Run, RunTrigger

NewId = Callable[[], str]
"""A fresh identifier, 32 hex characters."""


class Clock(Protocol):
    """Time. Tests move it by hand."""

    def now(self) -> datetime:
        """Wall clock, aware, UTC."""

    def monotonic(self) -> float:
        """Seconds that only grow; for deadlines."""

    async def sleep(self, seconds: float) -> None:
        """Let time pass."""

    def timeout(self, seconds: float) -> AbstractAsyncContextManager[object]:
        """A scope that raises `TimeoutError` after `seconds`."""


class EvidenceTool(Protocol):
    """One backend that can be asked, read-only, with its client bound inside."""

    name: str

    async def ask(self, question: Question) -> Outcome:
        """Answer, or say how it could not; never raises for what the backend does."""


class ArbiterSays(StrEnum):
    """What the server's own parser thinks of an expression."""

    VALID = "valid"
    INVALID = "invalid"
    UNREACHABLE = "unreachable"


class QueryArbiter(Protocol):
    """The server's parser, asked without running anything."""

    async def judge(self, expression: str) -> tuple[ArbiterSays, str]:
        """The verdict and the server's own words."""


class RuleInfo(Protocol):
    """An alerting rule as its server has it."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def expression(self) -> str:
        """Its expression."""

    @property
    def for_s(self) -> float:
        """How long the condition must hold, seconds."""

    @property
    def labels(self) -> Mapping[str, str]:
        """Labels it adds."""


class ActiveAlerts(Protocol):
    """A source that can be asked what fires now."""

    async def firing(self) -> Sequence[Alert] | Gap:
        """Every alert the source holds as firing."""


class RuleBook(Protocol):
    """A server that knows its rules' expressions and since when they are active."""

    async def rules(self) -> Sequence[RuleInfo] | Gap:
        """Every alerting rule."""

    async def active_at(self, alert: Alert) -> datetime | None:
        """When the rule's condition became true for this alert; None when it cannot say."""


class LLM(Protocol):
    """One model provider."""

    @property
    def capabilities(self) -> Capabilities:
        """What it can do."""

    async def complete(self, request: ModelRequest, timeout_s: float) -> ModelReply:
        """Send one request, once.

        Raises:
            EngineError: whatever the provider did, as the class that says what to do about it.
        """


class Embedder(Protocol):
    """Texts as vectors in which likeness is nearness."""

    @property
    def name(self) -> str:
        """Which embedding it is; vectors of two are never compared."""

    async def embed(self, text: str) -> Sequence[float]:
        """The vector of a text."""


class Neighbour(Protocol):
    """Another incident, as much of it as a check may show: never its finding."""

    @property
    def key(self) -> str:
        """What it is about, for people."""

    @property
    def severity(self) -> Severity:
        """How bad it is."""

    @property
    def state(self) -> IncidentState:
        """Where it stands."""


class Incidents(Protocol):
    """Incidents as the engine reads them."""

    async def get(self, incident_id: str) -> Incident | None:
        """One incident with its groups and members."""

    async def blind(self, client_id: str) -> Sequence[str]:
        """Open incidents whose last finding a silent backend spoilt, not looked at again yet."""

    async def look_again(self, incident_id: str, now: datetime) -> None:
        """Remember that it is investigated again because a backend came back."""

    async def judged(self, incident: Incident, at: datetime, scopes: Sequence[str]) -> None:
        """Remember what a judgement had seen; recurrences count from here."""

    async def neighbours(self, incident: Incident, since: datetime) -> Sequence[Neighbour]:
        """Other incidents of the client active since then; drills and the incident excluded."""


class Runs(Protocol):
    """Triage runs."""

    async def add(self, run: Run) -> None:
        """Record a run that was asked for."""

    async def get(self, triage_id: str) -> Run | None:
        """One run."""

    async def newest(self, incident_id: str) -> Run | None:
        """The run of an incident that was asked for last."""

    async def save(self, run: Run) -> None:
        """Record where it stands now."""

    async def stopped(self, triage_id: str) -> str | None:
        """Who asked a run to stop looking."""

    async def tools_before(self, run: Run) -> Sequence[ToolName]:
        """Tools that the client's last finished run before this one was offered."""

    async def unpaid(self, client_id: str, since: datetime) -> "Sequence[Stopped]":
        """Incidents that fire and were left for lack of money before then, the worst first."""


class Lookups(Protocol):
    """What investigations asked beyond their packs."""

    async def add(self, run: Run, entry: LedgerEntry, whole: str) -> None:
        """Keep an answer with its digest; the same entry again changes nothing."""

    async def of_triage(self, triage_id: str) -> Sequence[LedgerEntry]:
        """Every answer of a run, in order."""


class Findings(Protocol):
    """Packs and findings; neither is ever changed."""

    async def keep_pack(self, pack: Pack) -> None:
        """Keep a frozen pack, byte for byte."""

    async def pack(self, hash_: str) -> Pack | None:
        """A frozen pack by its hash."""

    async def show_facts(self, pack: Pack, *, complete: bool) -> None:
        """Keep the pack as far as it has come, for the facts card."""

    async def keep(self, finding: Finding) -> None:
        """Keep a finding."""

    async def of_triage(self, triage_id: str) -> Finding | None:
        """What a run came to."""

    async def newest(self, incident_id: str) -> Finding | None:
        """The newest finding of an incident."""

    async def newest_of_family(self, client_id: str, family_key: str) -> Finding | None:
        """The newest finding on any incident that held this family."""


class Charts(Protocol):
    """What the charts of incidents show."""

    async def keep(self, chart: Chart) -> None:
        """Keep what an incident's chart shows now."""

    async def of_incident(self, incident_id: str) -> Chart | None:
        """What an incident's chart shows."""


class Corrections(Protocol):
    """What people said was really the cause."""

    async def governing(self, client_id: str, held: Sequence[tuple[str, str]]) -> Correction | None:
        """The newest that stands for any of these families, each with its rule's name."""


class Spent(Protocol):
    """What a client used up today (UTC)."""

    @property
    def usd(self) -> float:
        """US dollars."""

    @property
    def tokens(self) -> int:
        """Tokens, in and out."""


class Calls(Protocol):
    """Model calls: a row before each is sent, settled after."""

    async def add(self, call: ModelCall, request: str) -> None:
        """Record a call about to be sent, with the request as JSON."""

    async def settle(self, call: ModelCall, reply: str) -> None:
        """Record what came of it, with the reply as JSON."""

    async def answered(self, triage_id: str, kind: CallKind, request: str) -> str | None:
        """The reply of an earlier call of the run with the same request, if it got one."""

    async def lost(self, triage_id: str) -> int:
        """Mark calls in flight when their process died; give how many there were."""

    async def of_triage(self, triage_id: str) -> Sequence[ModelCall]:
        """Every call of a triage, oldest first."""

    async def spent(self, client_id: str, since: datetime) -> Spent:
        """Cost and tokens of a client since then, with what calls in flight may cost."""

    async def spent_alone(self, client_id: str, since: datetime) -> Spent:
        """The same; others who ask for this client wait until this transaction ends."""


class Stopped(NamedTuple):
    """An incident that waits for a model provider."""

    incident_id: str
    client_id: str
    severity: str
    trigger: RunTrigger

    @property
    def rank(self) -> int:
        """How bad it is."""
        return Severity(self.severity).rank


class Outages(Protocol):
    """Outages of model providers, shared by every process."""

    async def open(self, provider: str) -> Outage | None:
        """The outage a provider is in."""

    async def try_once(self, provider: str, hold_s: float) -> bool:
        """Take the one trial there is; False when another has it."""

    async def stopped(self, outage: Outage, *, given_up: bool) -> Sequence[Stopped]:
        """Open incidents that wait for a provider, the worst first; those given up too."""

    async def resumed(self, incident_id: str) -> int:
        """Mark the dead letters of an incident as taken up again; give how many."""


class Changes(Protocol):
    """What changed, as change sources told us."""

    async def add(self, client_id: str, change: Change) -> bool:
        """Keep a change; False when it was known already."""

    async def between(self, client_id: str, start_at: datetime, end_at: datetime) -> list[Change]:
        """Changes of a client, newest first."""

    async def sources(self, client_id: str) -> int:
        """How many change sources ever spoke for this client."""


class CardWish(NamedTuple):
    """An incident's card to be drawn, and why."""

    incident: Incident
    reason: str
    due_s: float = 0


class Cards(Protocol):
    """Cards wished for; the outbox draws and sends them after the transaction."""

    async def wish(self, incident: Incident, reason: str, *, due_s: float = 0) -> None:
        """Ask for the incident's card in every room it belongs in to be drawn (again).

        Rooms are chosen at the first wish: per platform the first whose `match` fits the lead.
        A wish for a card that is waiting already makes it due at the earlier of the two times.
        """

    async def wish_all(self, client_id: str, wishes: Sequence[CardWish]) -> None:
        """Ask for the cards of many incidents of a client, each of them named once."""

    async def wish_digest(self, client_id: str, kind: str, subject_id: str) -> None:
        """Ask for a digest (`first_contact`, `storm`) or a `notice` in the fallback rooms."""

    async def wish_message(
        self, incident: Incident, kind: str, dedup_key: str, *, audible: bool
    ) -> None:
        """Ask for a message beside each of the incident's cards: posted once, then edited."""


class Queue(StrEnum):
    """The queues there are."""

    FACTS = "facts"
    TRIAGE = "triage"


class DeadReason(StrEnum):
    """Why something was given up."""

    TERMINAL = "terminal"
    TRANSIENT_EXHAUSTED = "transient_exhausted"
    OPERATOR_ACTION_REQUIRED = "operator_action_required"
    CRASH_LOOP = "crash_loop"
    DELIVERY_FAILED = "delivery_failed"


class Delivery(Frozen):
    """A job in the hands of one worker."""

    job_id: str
    queue: Queue
    key: str
    ids: Mapping[str, str]
    client_id: str
    number: int
    """Deliveries so far, this one included."""
    fence: int
    """Number of the claim; a verb with an older one is refused."""


class JobQueue(Protocol):
    """Four verbs over claimed jobs. Each is False when the lease was lost to another worker."""

    async def claim(self, queues: Sequence[Queue], limit: int) -> Sequence[Delivery]:
        """Take due jobs, worst severity first; counts the claim before any work is done."""

    async def ack(self, delivery: Delivery) -> bool:
        """Done."""

    async def nak(self, delivery: Delivery, delay_s: float, error: str) -> bool:
        """Give it back, due again after `delay_s`."""

    async def term(self, delivery: Delivery, reason: DeadReason, error: str) -> bool:
        """Give it up, with a dead-letter row."""

    async def in_progress(self, delivery: Delivery) -> bool:
        """Renew the lease."""

    async def wait(self, timeout_s: float) -> None:
        """Return when a job may be due, at the latest after `timeout_s`."""


class JobWish(NamedTuple):
    """A job to be done, by its key."""

    queue: Queue
    ids: Mapping[str, str]
    key: str
    rank: int = 0
    delay_s: float = 0


class Jobs(Protocol):
    """Jobs that commit with the change that caused them."""

    async def enqueue(
        self,
        queue: Queue,
        ids: Mapping[str, str],
        *,
        key: str,
        client_id: str,
        rank: int = 0,
        delay_s: float = 0,
    ) -> None:
        """Add a job, or make the one with this key due at the earlier of the two times.

        While that job runs, one more delivery is owed. `rank`: severity rank, worst first.
        """

    async def enqueue_all(self, client_id: str, wishes: Sequence[JobWish]) -> None:
        """Add many jobs of a client, each key once a queue."""

    async def waiting(self, queue: Queue, client_id: str) -> int:
        """Jobs of a client nobody works on yet, due or not."""

    async def finish(self, delivery: Delivery) -> bool:
        """Acknowledge inside this transaction, with what the job produced; False: lease lost."""


class Org(Protocol):
    """Clients, rooms and flags as they are now."""

    async def client(self, client_id: str) -> Client:
        """The client with its flags, read afresh."""

    async def rooms(self, client_id: str) -> Sequence[Room]:
        """Rooms the client's cards may go to, in matching order."""


class Steps(Protocol):
    """Steps of sessions, kept in their order."""

    async def append(self, run: Run, kind: SessionEvent, facts: EventFacts) -> None:
        """Keep one step."""


class Reviews(Protocol):
    """What people have to look at."""

    async def open(self, incident: Incident, reason: ReviewReason, triage_id: str | None) -> bool:
        """Open an item of the incident's family, or renew its open one; False when renewed."""

    async def close(self, client_id: str, family_key: str, by: str) -> None:
        """Close the family's open item."""


class Outcomes(Protocol):
    """What people said of findings."""

    async def keep(self, given: Given) -> None:
        """Keep a verdict."""

    async def labels(self, model: str) -> Sequence[Label]:
        """Every finding of a model that has a known outcome, once."""


class Stubs(Protocol):
    """What was learned from earlier incidents."""

    async def nearest(
        self,
        client_id: str,
        embedding: str,
        vector: Sequence[float],
        *,
        most: float,
        held_s: float,
    ) -> Sequence[Near]:
        """Stubs that hold and are no farther than `most`, the nearest first."""

    async def unembedded(self, embedding: str, limit: int) -> Sequence[Stub]:
        """Approved stubs that have no vector of an embedding yet."""

    async def embed(self, stub_id: str, embedding: str, vector: Sequence[float]) -> None:
        """Keep a stub's symptom as a vector.

        Raises:
            LookupError: memory cannot be searched by likeness here.
        """

    async def failed(self, stub_id: str) -> None:
        """Remember that its fix did not work again."""


class Audit(Protocol):
    """Who changed what; append-only, in the transaction of the change."""

    async def append(
        self, client_id: str | None, actor: str, action: str, facts: Mapping[str, str | int | None]
    ) -> None:
        """Record one change."""


class Tx(Protocol):
    """One transaction and every repository in it."""

    @property
    def incidents(self) -> Incidents:
        """Incidents."""

    @property
    def runs(self) -> Runs:
        """Triage runs."""

    @property
    def findings(self) -> Findings:
        """Packs and findings."""

    @property
    def calls(self) -> Calls:
        """Model calls."""

    @property
    def lookups(self) -> Lookups:
        """What investigations asked."""

    @property
    def charts(self) -> Charts:
        """What the charts of incidents show."""

    @property
    def corrections(self) -> Corrections:
        """What people said was really the cause."""

    @property
    def outages(self) -> Outages:
        """Outages of model providers."""

    @property
    def changes(self) -> Changes:
        """What changed."""

    @property
    def cards(self) -> Cards:
        """Cards wished for."""

    @property
    def jobs(self) -> Jobs:
        """Jobs that commit with this."""

    @property
    def org(self) -> Org:
        """Clients, rooms, flags."""

    @property
    def steps(self) -> Steps:
        """Steps of sessions."""

    @property
    def reviews(self) -> Reviews:
        """What people have to look at."""

    @property
    def stubs(self) -> Stubs:
        """What was learned from earlier incidents."""

    @property
    def outcomes(self) -> Outcomes:
        """What people said of findings."""

    @property
    def audit(self) -> Audit:
        """Who changed what."""

    async def now(self) -> datetime:
        """Database time; what leases and audit use."""

    async def case(self, incident_id: str) -> CaseFile | None:
        """The whole case of an incident."""


class Store(Protocol):
    """The database."""

    def begin(self) -> AbstractAsyncContextManager[Tx]:
        """Open a transaction: committed on leaving, rolled back on an error."""


Progress = Callable[[str], Awaitable[None]]
"""Told one finished fact at a time while a triage runs."""

Events = Callable[[SessionEvent, EventFacts], Awaitable[None]]
"""Told every step of a session as it happens; a listener that fails must not stop the triage."""
