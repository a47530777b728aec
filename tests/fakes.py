"""Honest stand-ins for the outside world: they keep what they were told, do what they are told."""

import asyncio
import json
import selectors
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

from engine.model.change import Change
from engine.model.correction import Correction
from engine.model.evidence import Answered, Empty, Gap, Invalid, Outcome, Question, Series
from engine.model.ledger import LedgerEntry, ToolName
from engine.model.llm import Capabilities, ModelReply, ModelRequest, StopReason, ToolCall
from engine.model.memory import Near
from engine.model.pack import Pack
from engine.model.review import Label
from engine.model.run import CallKind, CallState, ModelCall, Run, Usage
from engine.ports import ArbiterSays
from storage.calls import SpentToday

T = TypeVar("T")
START = datetime(2026, 11, 30, 3, 2, tzinfo=UTC)


class _Jumping(selectors.SelectSelector):
    """Waits for nothing: time jumps to the next timer instead."""

    loop: "VirtualLoop"

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        found = super().select(0)
        if not found and timeout is None:
            raise RuntimeError("nothing will ever happen")
        if not found:
            self.loop.ahead_s += max(0.0, timeout or 0.0)
        return found


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop whose time passes only while everything waits."""

    def __init__(self) -> None:
        self.ahead_s = 0.0
        selector = _Jumping()
        selector.loop = self
        super().__init__(selector)

    def time(self) -> float:
        return self.ahead_s


def run(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run to the end in virtual time."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(coroutine)


class LoopClock:
    """The running loop's time."""

    def now(self) -> datetime:
        return START + timedelta(seconds=self.monotonic())

    def monotonic(self) -> float:
        return asyncio.get_running_loop().time()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    def timeout(self, seconds: float) -> AbstractAsyncContextManager[object]:
        return asyncio.timeout(seconds)


@dataclass
class Late:
    """A reply that comes after a while."""

    after_s: float
    reply: "str | ModelReply | Exception"


Scripted = str | ModelReply | Exception | Late | Callable[[ModelRequest], str]


@dataclass
class ScriptedLLM:
    """Gives the replies it was handed, in order, and keeps what it was asked."""

    replies: list[Scripted]
    capabilities: Capabilities = field(default_factory=Capabilities)
    asked: list[ModelRequest] = field(default_factory=list)
    timeouts: list[float] = field(default_factory=list)
    seen: Callable[[], Any] = lambda: None
    witnessed: list[Any] = field(default_factory=list)

    async def complete(self, request: ModelRequest, timeout_s: float) -> ModelReply:
        self.asked.append(request)
        self.timeouts.append(timeout_s)
        self.witnessed.append(self.seen())
        reply = self.replies.pop(0)
        if isinstance(reply, Late):
            await asyncio.sleep(reply.after_s)
            reply = reply.reply
        if isinstance(reply, Exception):
            raise reply
        if isinstance(reply, ModelReply):
            return reply
        return said(reply(request) if callable(reply) else reply)


def said(text: str, stop: StopReason = StopReason.END_TURN, **usage: int) -> ModelReply:
    counted = Usage(**({"input_tokens": 100, "output_tokens": 50} | usage))
    return ModelReply(text=text, stop_reason=stop, usage=counted, model="m", request_id="req_1")


def asks(*calls: tuple[str, Any], text: str = "", **usage: int) -> ModelReply:
    """A reply that asks for tools."""
    wire = tuple(
        ToolCall(id="x", name=name, arguments=a if isinstance(a, str) else json.dumps(a))
        for name, a in calls
    )
    return said(text, StopReason.TOOL_USE, **usage).model_copy(update={"calls": wire})


@dataclass
class FakeMetrics:
    """A backend that answers by the first query that contains a text, after a while if told to."""

    answers: Mapping[str, Any]
    name: str = "metrics"
    asked: list[Question] = field(default_factory=list)
    now: Callable[[], datetime] = lambda: START

    async def ask(self, question: Question) -> Outcome:
        self.asked.append(question)
        found: dict[str, tuple[Series, ...]] = {}
        for name, query in question.queries.items():
            answer = next((a for part, a in self.answers.items() if part in query), None)
            if isinstance(answer, float) and answer < 0:
                await asyncio.sleep(-answer)
                answer = None
            if isinstance(answer, Gap | Invalid):
                return answer
            if answer is not None:
                found[name] = series(answer)
        return Answered(evaluated_at=START, results=found) if found else Empty(evaluated_at=START)


def series(answer: Any) -> tuple[Series, ...]:
    if isinstance(answer, tuple):
        return answer
    return (Series(points=((START.timestamp(), float(answer)),)),)


@dataclass
class FixedArbiter:
    """Says the same of every expression."""

    says: ArbiterSays
    asked: list[str] = field(default_factory=list)

    async def judge(self, expression: str) -> tuple[ArbiterSays, str]:
        self.asked.append(expression)
        return self.says, "its own words"


@dataclass
class FixedEmbedder:
    """Gives every text the same vector, and keeps the texts."""

    vector: Sequence[float]
    name: str = "hash-1"
    asked: list[str] = field(default_factory=list)

    async def embed(self, text: str) -> Sequence[float]:
        self.asked.append(text)
        return self.vector


@dataclass
class MemoryStore:
    """What a triage keeps, in memory; one transaction is one call of `begin`."""

    calls: dict[str, ModelCall] = field(default_factory=dict)
    requests: dict[str, str] = field(default_factory=dict)
    replies: dict[str, str] = field(default_factory=dict)
    remembers: bool = False
    """Whether an answered request is answered again from here."""
    audit: list[tuple[str, Mapping[str, Any]]] = field(default_factory=list)
    runs: dict[str, Run] = field(default_factory=dict)
    stopped_by: str | None = None
    others: Sequence[Any] = ()
    changed: Sequence[Change] = ()
    tools: Sequence[ToolName] = ()
    """What the run before was offered."""
    lookups: dict[str, tuple[LedgerEntry, str]] = field(default_factory=dict)
    packs: list[Pack] = field(default_factory=list)
    """Those that were frozen while a model was asked."""
    outcomes: Mapping[str, Sequence[Label]] = field(default_factory=dict)
    near: Sequence[Near] = ()
    correction: Correction | None = None
    """What a person said of the case."""

    @asynccontextmanager
    async def begin(self) -> AsyncIterator[Any]:
        yield _Tx(self)

    def states(self) -> list[str]:
        return [call.state.value for call in self.calls.values()]


class _Tx:
    """Every repository a triage speaks to, in one."""

    def __init__(self, store: MemoryStore) -> None:
        self.store = store
        self.calls = self.audit = self.runs = self.incidents = self.changes = self
        self.lookups = _Lookups(store)
        self.outcomes = self.stubs = self.corrections = self.findings = self

    async def now(self) -> datetime:
        return START

    async def add(self, call: ModelCall, request: str) -> None:
        self.store.calls[call.id], self.store.requests[call.id] = call, request

    async def settle(self, call: ModelCall, reply: str) -> None:
        self.store.calls[call.id] = call
        self.store.replies[call.id] = reply

    async def answered(self, triage_id: str, kind: CallKind, request: str) -> str | None:
        if not self.store.remembers:
            return None
        fine = {id_ for id_, call in self.store.calls.items() if call.state is CallState.OK}
        same = (i for i, asked in self.store.requests.items() if asked == request and i in fine)
        return next((self.store.replies[i] for i in same if self.store.replies.get(i)), None)

    async def append(self, client_id: str, actor: str, action: str, facts: Any) -> None:
        self.store.audit.append((action, dict(facts)))

    async def save(self, run: Run) -> None:
        self.store.runs[run.triage_id] = run

    async def get(self, triage_id: str) -> Run | None:
        return self.store.runs.get(triage_id)

    async def keep_pack(self, pack: Pack) -> None:
        self.store.packs.append(pack)

    async def spent_alone(self, client_id: str, since: datetime) -> SpentToday:
        """What is settled, and what is held for the rest; tokens only."""
        calls = self.store.calls.values()
        tokens = sum(c.usage.total + c.held_tokens * (c.state is CallState.SENT) for c in calls)
        return SpentToday(usd=0, tokens=tokens)

    async def nearest(self, *_: object, **__: object) -> Sequence[Near]:
        return self.store.near

    async def labels(self, model: str) -> Sequence[Label]:
        return self.store.outcomes.get(model, ())

    async def governing(self, client_id: str, held: Sequence[Any]) -> Correction | None:
        return self.store.correction

    async def neighbours(self, incident: Any, since: datetime) -> Sequence[Any]:
        return self.store.others

    async def stopped(self, triage_id: str) -> str | None:
        return self.store.stopped_by

    async def tools_before(self, run: Run) -> Sequence[ToolName]:
        return self.store.tools

    async def between(self, client_id: str, start_at: datetime, end_at: datetime) -> list[Change]:
        return [change for change in self.store.changed if start_at <= change.at <= end_at]


@dataclass
class _Lookups:
    store: MemoryStore

    async def add(self, run: Run, entry: LedgerEntry, whole: str) -> None:
        self.store.lookups[entry.id] = entry, whole

    async def of_triage(self, triage_id: str) -> Sequence[LedgerEntry]:
        return [entry for entry, _ in self.store.lookups.values()]
