"""The loop: the model looks further until it stops asking, and that reply is its conclusion."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from engine.errors import TimedOutError
from engine.investigation.asking import Desk
from engine.investigation.bounds import Meter
from engine.investigation.ledger import Ledger
from engine.investigation.prompts import prompt
from engine.investigation.session import Session
from engine.investigation.stops import Stop, stop_of
from engine.investigation.transcript import behind, numbered, strayed, with_words
from engine.model.event import SessionEvent
from engine.model.ledger import Bound, LedgerEntry
from engine.model.llm import ModelReply, ModelRequest

LEAST_S = 1.0
"""Less than this is no attempt."""
_BOUND_WORDS = {
    Bound.DEADLINE: "time",
    Bound.TOKENS: "tokens",
    Bound.LOOPS: "turns",
}
Send = Callable[[ModelRequest, float], Awaitable[tuple[ModelRequest, ModelReply]]]
"""Sends a request within so many seconds; gives it as it was sent, with its reply."""


@dataclass
class Looking:
    """One investigation under its bounds."""

    session: Session
    send: Send
    meter: Meter
    desk: Desk

    @classmethod
    async def begin(cls, session: Session, send: Send) -> "Looking":
        """Start the clock, and take up what a dead worker looked up."""
        meter = Meter(session.bounds, session.ports.clock.monotonic())
        kept: list[LedgerEntry] = []
        if session.setting.tools:
            async with session.ports.store.begin() as tx:
                kept = [*await tx.lookups.of_triage(session.run.triage_id)]
        # A run that waited has another pack, and what was looked up for the old one is old too.
        kept = [entry for entry in kept if entry.at >= session.pack.anchor.taken_at]
        return cls(session, send, meter, Desk(session, Ledger.of(kept), meter))

    @property
    def bound(self) -> Bound | None:
        """What stopped it."""
        return self.meter.bound

    @property
    def ledger(self) -> tuple[LedgerEntry, ...]:
        """What was looked up."""
        return tuple(self.desk.ledger.entries)

    async def concluded(self, request: ModelRequest) -> tuple[ModelRequest, ModelReply]:
        """Go on until a reply asks for no tool, or asks once more after it was told there is none.

        Raises:
            EngineError: what the provider did; running out of time to look is none.
        """
        while True:
            try:
                sent, reply = await self._turn(request)
            except TimedOutError:
                if not self._time_is_up():
                    raise
                self.meter.bound = Bound.DEADLINE
                request = self._concluding(request)
                continue
            self.meter.heard(reply)
            if stop_of(reply) is not Stop.ASKS or self.meter.strays:
                return sent, reply
            request = await self._answered(sent, reply)

    async def _turn(self, request: ModelRequest) -> tuple[ModelRequest, ModelReply]:
        rule = self.session.rule
        if not self.session.setting.tools:
            return await self.send(request, min(rule.call_timeout_s, rule.deadline))
        left_s = self.meter.left_s(self.session.ports.clock.monotonic())
        if left_s < LEAST_S:
            raise TimedOutError(f"{max(left_s, 0):.0f} s left")
        most = max(1, min(request.max_tokens, self.meter.room))
        limited = request.model_copy(update={"max_tokens": most})
        return await self.send(limited, min(rule.call_timeout_s, left_s))

    def _time_is_up(self) -> bool:
        """Whether looking ended in this call; a call that was late with time to spare is lost."""
        if self.meter.bound is not None or not self.session.setting.tools:
            return False
        return self.meter.left_s(self.session.ports.clock.monotonic()) < LEAST_S

    async def _answered(self, request: ModelRequest, reply: ModelReply) -> ModelRequest:
        """Put a turn and its answers behind the conversation."""
        setting, rule = self.session.setting, self.session.rule
        if self.meter.bound is not None:
            self.meter.strays += 1
            return self._concluding(strayed(request, reply))
        calls = numbered(request, reply.calls)
        answers = await self.desk.answers(calls, reply.calls)
        now_s = self.session.ports.clock.monotonic()
        self.meter.loops += 1
        self.meter.looked_s = now_s - self.meter.started_s
        longer = behind(request, reply, calls, answers, caching=setting.caching)
        longer = longer.model_copy(update={"max_tokens": rule.conclude_max_tokens})
        return longer if self.meter.look(now_s) is None else self._concluding(longer)

    def _concluding(self, request: ModelRequest) -> ModelRequest:
        """Tell the model to conclude, behind whatever it was told last."""
        assert self.meter.bound is not None
        text = prompt("no_more_tools", bound=_BOUND_WORDS[self.meter.bound])
        self.meter.appended(text)
        return with_words(request, text)

    async def ended(self) -> None:
        """Tell how far it went."""
        facts = {
            "loops": self.meter.loops,
            "tokens": self.meter.tokens,
            "seconds": self.meter.looked_s,
            "bound": self.meter.bound.value if self.meter.bound else None,
            "stage": "loop",
        }
        if self.session.setting.tools:
            await self.session.ports.events(SessionEvent.LOOP, facts)
