"""The loop: the model looks further until it stops asking, and that reply is its conclusion."""

from collections.abc import Awaitable, Callable

from engine.errors import BudgetSpentError, TimedOutError
from engine.investigation.asking import Desk
from engine.investigation.bounds import LEAST_S, Bounds, Meter
from engine.investigation.prompts import prompt
from engine.investigation.session import Session
from engine.investigation.stops import Stop, stop_of
from engine.investigation.transcript import behind, numbered, strayed, with_words
from engine.model.event import SessionEvent
from engine.model.ledger import Bound
from engine.model.llm import ModelReply, ModelRequest

_BOUND_WORDS = {
    Bound.DEADLINE: "time",
    Bound.TOKENS: "tokens",
    Bound.LOOPS: "turns",
    Bound.BUDGET: "money",
    Bound.STOPPED: "patience of the people who wait",
}
Send = Callable[[ModelRequest, float], Awaitable[tuple[ModelRequest, ModelReply]]]
"""Sends a request within so many seconds; gives it as it was sent, with its reply."""


class Looking:
    """One investigation under its bounds."""

    def __init__(self, session: Session, send: Send, bounds: Bounds, stage: str) -> None:
        """Start the clock.

        Args:
            session: the run; what is looked up goes into its ledger.
            send: sends its calls.
            bounds: how much it may take.
            stage: what it is counted as, `loop` or `confirm`.
        """
        self._session, self._send, self._stage = session, send, stage
        self._meter = Meter(bounds, session.ports.clock.monotonic())
        self._desk = Desk(session, self._meter)
        self._tools = bool(session.setting.tools)

    @property
    def bound(self) -> Bound | None:
        """What stopped it."""
        return self._meter.bound

    async def concluded(self, request: ModelRequest) -> tuple[ModelRequest, ModelReply]:
        """Go on until a reply asks for no tool, or asks once more after it was told there is none.

        Raises:
            EngineError: what the provider did; running out of time or money to look is none.
        """
        while True:
            if self._tools and self.bound is None and await self._must_end():
                request = self._concluding(request)
            try:
                sent, reply = await self._turn(request)
            except TimedOutError:
                if not self._time_is_up():
                    raise
                self._meter.bound = Bound.DEADLINE
                request = self._concluding(request)
                continue
            except BudgetSpentError:
                if not self._money_is_up():
                    raise
                request = self._concluding(request)
                continue
            self._meter.heard(reply)
            if stop_of(reply) is not Stop.ASKS or self._meter.strays:
                return sent, reply
            request = await self._answered(sent, reply)

    @property
    def _now_s(self) -> float:
        return self._session.ports.clock.monotonic()

    async def _must_end(self) -> bool:
        """Whether a bound is reached, or somebody asked it to stop; that is read every turn."""
        if self._meter.loops and await self._stopped():
            self._meter.bound = Bound.STOPPED
        return self._meter.look(self._now_s) is not None

    async def _stopped(self) -> bool:
        async with self._session.ports.store.begin() as tx:
            return await tx.runs.stopped(self._session.run.triage_id) is not None

    async def _turn(self, request: ModelRequest) -> tuple[ModelRequest, ModelReply]:
        left_s = self._meter.left_s(self._now_s)
        if left_s < LEAST_S or self._meter.room < 1:
            raise TimedOutError(f"{max(left_s, 0):.0f} s and {self._meter.room} tokens are left")
        most = min(request.max_tokens, self._meter.room)
        limited = request.model_copy(update={"max_tokens": most})
        self._session.caller.looking = self._tools and self.bound is None
        return await self._send(limited, min(self._session.rule.call_timeout_s, left_s))

    def _time_is_up(self) -> bool:
        """Whether looking ended in this call; a call that was late with time to spare is lost."""
        looking = self._tools and self.bound is None
        return looking and self._meter.left_s(self._now_s) < LEAST_S

    def _money_is_up(self) -> bool:
        """Whether looking ended at this call, with its conclusion kept free; marks the bound."""
        looking = self._tools and self.bound is None
        if self.bound is None and self._meter.begun:
            self._meter.bound = Bound.BUDGET
        return looking and self.bound is not None

    async def _answered(self, request: ModelRequest, reply: ModelReply) -> ModelRequest:
        """Put a turn and its answers behind the conversation."""
        session = self._session
        if self.bound is not None:
            self._meter.strays += 1
            return self._concluding(strayed(request, reply))
        calls = numbered(request, reply.calls)
        answers = await self._desk.answers(calls, reply.calls)
        self._meter.loops += 1
        self._meter.looked_s = self._now_s - self._meter.started_s
        longer = behind(request, reply, calls, answers, caching=session.setting.caching)
        return longer.model_copy(update={"max_tokens": session.rule.conclude_max_tokens})

    def _concluding(self, request: ModelRequest) -> ModelRequest:
        """Tell the model to conclude, behind whatever it was told last."""
        assert self._meter.bound is not None
        text = prompt("no_more_tools", bound=_BOUND_WORDS[self._meter.bound])
        self._meter.appended(text)
        return with_words(request, text)

    async def ended(self) -> None:
        """Tell how far it went."""
        self._session.caller.looking = False
        self._session.bound = self.bound
        facts = {
            "loops": self._meter.loops,
            "tokens": self._meter.tokens,
            "seconds": self._meter.looked_s,
            "bound": self.bound.value if self.bound else None,
            "stage": self._stage,
        }
        if self._tools:
            await self._session.ports.events(SessionEvent.LOOP, facts)
