"""The tool calls of one turn: read, asked together, answered in order. No call is an exception."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from engine.fence import CUT, fence, strip_invisible
from engine.investigation.bounds import Meter, tokens_of
from engine.investigation.ledger import covers
from engine.investigation.session import Session
from engine.investigation.tool import Refused, Told, Tool, Wanted
from engine.investigation.tools.table import offered
from engine.investigation.transcript import NO_MORE, number_of
from engine.model.event import SessionEvent
from engine.model.evidence import QueryOutcome
from engine.model.ledger import LedgerEntry
from engine.model.llm import ToolAnswer, ToolCall
from engine.verification.kind import plain

MOST_CALLS = 6
"""Asked in one turn; enough to tell candidates apart, too few to flood a backend."""
TOOL_S = 10.0
MOST_CHARACTERS = 3_000
MOST_WHOLE = 1_000_000
_READABLE = frozenset({QueryOutcome.FETCHED, QueryOutcome.EMPTY})


@dataclass
class _Asked:
    """One call on its way to an answer."""

    number: int
    call: ToolCall
    tool: Tool[Any] | None = None
    refused: str = ""
    wanted: Wanted | None = None
    like: "_Asked | LedgerEntry | None" = None
    """What answers it already, or will in this turn."""
    entry: LedgerEntry | None = None
    whole: str | None = None
    """All of the answer, where it is new."""


@dataclass
class Desk:
    """Answers the calls of one investigation."""

    session: Session
    meter: Meter
    tools: dict[str, Tool[Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Know the tools that were offered."""
        known = {spec.name for spec in self.session.setting.tools}
        self.tools = {n: t for n, t in offered(self.session.bench).items() if n in known}

    async def answers(
        self, calls: Sequence[ToolCall], given: Sequence[ToolCall]
    ) -> tuple[ToolAnswer, ...]:
        """Answer every call of a turn.

        Args:
            calls: as they stand in the conversation.
            given: the same calls as the model made them.
        """
        asked: list[_Asked] = []
        for place, (call, raw) in enumerate(zip(calls, given, strict=True)):
            one = _Asked(number=number_of(call), call=call)
            asked.append(one)
            await self._read(one, raw, asked, over=place >= MOST_CALLS)
        await self._ask([one for one in asked if one.wanted and one.like is None])
        await self._keep(asked)
        return tuple([await self._answer(one) for one in asked])

    async def _read(
        self, one: _Asked, raw: ToolCall, asked: Sequence[_Asked], *, over: bool
    ) -> None:
        """Find out what a call wants, and whether that is answered already."""
        one.tool = self.tools.get(raw.name)
        if over:
            one.refused = f"at most {MOST_CALLS} tools in one turn; ask again"
        elif one.tool is None:
            one.refused = "there is no such tool"
        elif stored := self.session.ledger.again(one.number, one.tool.name, one.call.arguments):
            one.entry = stored
        else:
            wanted = await one.tool.wanted(raw.arguments, self.session.bench)
            if isinstance(wanted, Refused):
                one.refused = wanted.why
            else:
                one.like = self._like(one.tool, wanted, asked)
                one.wanted = wanted

    def _like(
        self, tool: Tool[Any], wanted: Wanted, asked: Sequence[_Asked]
    ) -> "_Asked | LedgerEntry | None":
        """Find the same question in the ledger, or earlier in this turn."""
        found = self.session.ledger.like(tool.name, wanted, tool.same)
        if found is not None:
            return found
        return next(
            (
                other
                for other in asked
                if other.tool is tool
                and other.wanted is not None
                and other.like is None
                and covers(other.wanted, wanted)
                and tool.same(other.wanted.asked, wanted.asked)
            ),
            None,
        )

    async def _ask(self, fresh: Sequence[_Asked]) -> None:
        """Ask everything that is new at once; numbers follow the order of the calls."""
        if not fresh:
            return
        names = [one.tool.name for one in fresh if one.tool is not None]
        await self.session.ports.events(SessionEvent.LOOK, {"tools": ",".join(names)})
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(self._told(one)) for one in fresh]
        for one, task in zip(fresh, tasks, strict=True):
            one.entry, one.whole = self._entry(one, task.result())
            self.session.ledger.entries.append(one.entry)

    async def _told(self, one: _Asked) -> Told:
        """Ask one tool in the time that is left to look."""
        assert one.tool is not None
        assert one.wanted is not None
        clock = self.session.ports.clock
        given_s = min(TOOL_S, self.meter.left_s(clock.monotonic()))
        late = Told(outcome=QueryOutcome.DEGRADED, text=f"no answer in {max(given_s, 0):.0f} s")
        if given_s <= 0:
            return late
        try:
            async with clock.timeout(given_s):
                return await one.tool.tell(one.wanted, self.session.bench)
        except TimeoutError:
            return late

    def _entry(self, one: _Asked, told: Told) -> tuple[LedgerEntry, str]:
        assert one.tool is not None
        assert one.wanted is not None
        redact = self.session.ports.redact
        entry = LedgerEntry(
            id=self.session.ledger.next_id(),
            call=one.number,
            tool=one.tool.name,
            arguments=one.call.arguments,
            asked=redact(plain(one.wanted.asked, MOST_CHARACTERS)),
            start_at=one.wanted.start_at,
            end_at=one.wanted.end_at,
            outcome=told.outcome,
            text=cleaned(told.text, redact, told.longest_line),
            at=self.session.ports.clock.now(),
            backend=told.backend,
        )
        return entry, redact(told.whole[:MOST_WHOLE])

    async def _keep(self, asked: Sequence[_Asked]) -> None:
        """Store what is new before anything is sent that quotes it."""
        new = [(one.entry, one.whole) for one in asked if one.entry and one.whole is not None]
        if not new:
            return
        async with self.session.ports.store.begin() as tx:
            for entry, whole in new:
                await tx.lookups.add(self.session.run, entry, whole or "")

    async def _answer(self, one: _Asked) -> ToolAnswer:
        """Write what the model reads of a call, within the room there is."""
        entry = one.like.entry if isinstance(one.like, _Asked) else one.like or one.entry
        repeated = one.like is not None
        tool = one.tool.name.value if one.tool else "unknown"
        outcome = "repeated" if repeated else entry.outcome.value if entry else "refused"
        await self.session.ports.events(SessionEvent.TOOL, {"tool": tool, "outcome": outcome})
        delimiter = self.session.setting.fence
        if entry is None:
            text = f"not asked\n{fence(delimiter, {'why': one.refused})}"
        else:
            head = f"[{entry.id}] {entry.tool}, {entry.outcome}" + (
                ", asked before" if repeated else ""
            )
            fields = {f"{entry.id} asked": entry.asked, entry.id: entry.text}
            text = f"{head}\n{fence(delimiter, fields)}"
        if tokens_of(text) > self.meter.room:
            self.meter.full = True
            text = NO_MORE
        self.meter.appended(text)
        failed = entry is None or entry.outcome not in _READABLE or text == NO_MORE
        return ToolAnswer(call_id=one.call.id, text=text, failed=failed)


def cleaned(text: str, redact: Callable[[str], str], longest_line: int) -> str:
    """Make an answer fit to be read: nothing hidden, nothing secret, nothing endless."""
    lines = redact(strip_invisible(text)).split("\n")
    short = [ln if len(ln) <= longest_line else ln[: longest_line - 1] + CUT for ln in lines]
    whole = "\n".join(short)
    return whole if len(whole) <= MOST_CHARACTERS else whole[: MOST_CHARACTERS - 1] + CUT
