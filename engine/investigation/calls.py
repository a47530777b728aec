"""Model calls of one triage: each is a row before it is sent, and settled whatever became of it."""

import logging
from collections.abc import Callable
from dataclasses import dataclass, field

from engine.budget import Held, affords, day_start, estimate
from engine.errors import BudgetSpentError, EngineError, TimedOutError
from engine.investigation.cache import CacheWatch, Seen
from engine.model.event import SessionEvent
from engine.model.llm import ModelReply, ModelRequest
from engine.model.policy import Budget
from engine.model.run import CallKind, CallState, ModelCall, Run, Usage
from engine.ports import LLM, Clock, Events, NewId, Store, Tx

logger = logging.getLogger(__name__)
ACTOR = "engine"
Price = Callable[[str, Usage], float | None]
"""US dollars of a call, by model; None where nothing is known of its price."""


@dataclass
class Caller:
    """Sends the calls of one run."""

    run: Run
    store: Store
    llm: LLM
    clock: Clock
    new_id: NewId
    events: Events
    price: Price
    budget: Budget | None = None
    """Of the client and day; None is no limit."""
    cache: CacheWatch | None = None
    """None where nothing is marked for a cache."""
    sent: list[ModelCall] = field(default_factory=list)
    """Settled calls, oldest first."""
    looking: bool = False
    """What is sent is not the last call: one more must be payable after it."""
    _begun: bool = False
    _before: Seen | None = None

    async def send(self, kind: CallKind, request: ModelRequest, timeout_s: float) -> ModelReply:
        """Send one request once; what a dead worker was answered already is not asked again.

        Raises:
            EngineError: what the provider did; the row says so too.
        """
        answered = await self._answered(kind, request)
        if answered is not None:
            self._begun = True
            return answered
        call, sent_s = await self._open(kind, request), self.clock.monotonic()
        try:
            async with self.clock.timeout(timeout_s):
                reply = await self.llm.complete(request, timeout_s)
        except TimeoutError:
            late = TimedOutError(f"{timeout_s:.0f} s", kind="timeout")
            await self._close(call, CallState.FAILED, failed=late)
            raise late from None
        except EngineError as error:
            await self._close(call, CallState.FAILED, failed=error)
            raise
        await self._close(call, CallState.OK, reply=reply)
        if kind is not CallKind.REPAIR:
            await self._watch(Seen(request, reply.usage, sent_s))
        return reply

    async def _watch(self, seen: Seen) -> None:
        """Say so when a call paid for the prompt again, with the likely cause."""
        before, self._before = self._before, seen
        if self.cache is None or before is None:
            return
        model = seen.request.model
        cause = self.cache.saw(before, seen)
        if cause is None:
            return
        off = not self.cache.pays(model)
        logger.warning("%s read no cached tokens: %s", model, cause)
        if off:
            logger.warning("%s: nothing is marked for its cache any more, it never reads", model)
        await self.events(SessionEvent.CACHE_MISS, {"model": model, "cause": cause, "off": off})

    async def _answered(self, kind: CallKind, request: ModelRequest) -> ModelReply | None:
        """The reply this run got before to the very same request."""
        async with self.store.begin() as tx:
            text = await tx.calls.answered(self.run.triage_id, kind, request.canonical())
        return None if text is None else ModelReply.model_validate_json(text)

    async def _open(self, kind: CallKind, request: ModelRequest) -> ModelCall:
        async with self.store.begin() as tx:
            held = await self._held(tx, request)
            call = ModelCall(
                id=self.new_id(),
                client_id=self.run.client_id,
                triage_id=self.run.triage_id,
                kind=kind,
                model=request.model,
                state=CallState.SENT,
                sent_at=await tx.now(),
                held_usd=held.usd,
                held_tokens=held.tokens,
            )
            await tx.calls.add(call, request.canonical())
        return call

    async def _held(self, tx: Tx, request: ModelRequest) -> Held:
        """Keep free what a call may cost; callers of one client ask one after the other.

        Raises:
            BudgetSpentError: the day's budget does not cover it.
        """
        if self.budget is None:
            return Held()
        usage = estimate(request)
        usd = self.price(request.model, usage) or 0.0
        held = Held(usd=usd, tokens=usage.total)
        spent = await tx.calls.spent_alone(self.run.client_id, day_start(await tx.now()))
        begins = self.looking or not (self.sent or self._begun)
        if not affords(spent, held, self.budget, begins=begins):
            raise BudgetSpentError
        return held

    async def _close(
        self,
        call: ModelCall,
        state: CallState,
        *,
        reply: ModelReply | None = None,
        failed: EngineError | None = None,
    ) -> None:
        usage = reply.usage if reply else Usage()
        # A reply that came too late is paid for, and nobody says how much.
        held = Held(usd=call.held_usd, tokens=call.held_tokens) if _late(failed) else Held()
        async with self.store.begin() as tx:
            settled = call.model_copy(
                update={
                    "state": state,
                    "kind": _kind(call, reply),
                    "settled_at": await tx.now(),
                    "usage": usage,
                    "cost_usd": self.price(call.model, usage) if reply else None,
                    "held_usd": held.usd,
                    "held_tokens": held.tokens,
                    "error": str(failed)[:500] if failed else "",
                }
            )
            said = reply.canonical() if reply else failed.reply if failed else ""
            await tx.calls.settle(settled, said)
            facts = _facts(settled, reply)
            await tx.audit.append(self.run.client_id, ACTOR, "llm.response", facts)
        self.sent.append(settled)
        event: dict[str, str | int | float | None] = {**facts, "cost_usd": settled.cost_usd}
        if failed is not None:
            event |= {"error_kind": failed.kind, "echo": failed.echo}
        await self.events(SessionEvent.CALL, event)


def _late(failed: EngineError | None) -> bool:
    return isinstance(failed, TimedOutError)


def _kind(call: ModelCall, reply: ModelReply | None) -> CallKind:
    """Name a call by what it turned out to be: the last of the loop is the conclusion."""
    asks = reply is not None and bool(reply.calls)
    return CallKind.LOOP if asks and call.kind is CallKind.CONCLUDE else call.kind


def _facts(call: ModelCall, reply: ModelReply | None) -> dict[str, str | int | None]:
    return {
        "triage_id": call.triage_id,
        "call": call.kind,
        "model": call.model,
        "result": call.state,
        "request_id": reply.request_id if reply else None,
        **call.usage.model_dump(),
    }
