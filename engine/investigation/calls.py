"""Model calls of one triage: each is a row before it is sent, and settled whatever became of it."""

from collections.abc import Callable
from dataclasses import dataclass, field

from engine.errors import EngineError, TimedOutError
from engine.model.event import SessionEvent
from engine.model.llm import ModelReply, ModelRequest
from engine.model.run import CallKind, CallState, ModelCall, Run, Usage
from engine.ports import LLM, Clock, Events, NewId, Store

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
    sent: list[ModelCall] = field(default_factory=list)
    """Settled calls, oldest first."""

    async def send(self, kind: CallKind, request: ModelRequest, timeout_s: float) -> ModelReply:
        """Send one request once; what a dead worker was answered already is not asked again.

        Raises:
            EngineError: what the provider did; the row says so too.
        """
        answered = await self._answered(kind, request)
        if answered is not None:
            return answered
        call = await self._open(kind, request)
        try:
            async with self.clock.timeout(timeout_s):
                reply = await self.llm.complete(request, timeout_s)
        except TimeoutError:
            late = TimedOutError(f"{timeout_s:.0f} s", kind="timeout")
            await self._close(call, CallState.FAILED, error=late)
            raise late from None
        except EngineError as error:
            await self._close(call, CallState.FAILED, error=error)
            raise
        await self._close(call, CallState.OK, reply=reply)
        return reply

    async def _answered(self, kind: CallKind, request: ModelRequest) -> ModelReply | None:
        """The reply this run got before to the very same request."""
        async with self.store.begin() as tx:
            text = await tx.calls.answered(self.run.triage_id, kind, request.canonical())
        return None if text is None else ModelReply.model_validate_json(text)

    async def _open(self, kind: CallKind, request: ModelRequest) -> ModelCall:
        async with self.store.begin() as tx:
            call = ModelCall(
                id=self.new_id(),
                client_id=self.run.client_id,
                triage_id=self.run.triage_id,
                kind=kind,
                model=request.model,
                state=CallState.SENT,
                sent_at=await tx.now(),
            )
            await tx.calls.add(call, request.canonical())
        return call

    async def _close(
        self,
        call: ModelCall,
        state: CallState,
        *,
        reply: ModelReply | None = None,
        error: EngineError | None = None,
    ) -> None:
        usage = reply.usage if reply else Usage()
        async with self.store.begin() as tx:
            settled = call.model_copy(
                update={
                    "state": state,
                    "kind": _kind(call, reply),
                    "settled_at": await tx.now(),
                    "usage": usage,
                    "cost_usd": self.price(call.model, usage) if reply else None,
                    "error": str(error)[:500] if error else "",
                }
            )
            await tx.calls.settle(settled, reply.canonical() if reply else "")
            facts = _facts(settled, reply)
            await tx.audit.append(self.run.client_id, ACTOR, "llm.response", facts)
        self.sent.append(settled)
        event: dict[str, str | int | float | None] = {**facts, "cost_usd": settled.cost_usd}
        if error is not None:
            event |= {"error_kind": error.kind, "echo": error.echo}
        await self.events(SessionEvent.CALL, event)


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
