"""Tools over backends that answer in lines: a question over time, and its lines oldest first."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Protocol, TypeVar

from engine.investigation.tool import Arguments, Bench, Refused, Told, Tool, Wanted
from engine.investigation.tools.span import window
from engine.model.base import canonical_json
from engine.model.evidence import (
    Answered,
    Empty,
    Gap,
    Invalid,
    Outcome,
    Question,
    Window,
    outcome_of,
)
from engine.model.ledger import ToolName
from engine.ports import EvidenceTool
from engine.verification.kind import plain

MOST_LINES = 20
LONGEST_LINE = 300
LONGEST_READ = 4_000
"""Characters of a line that are looked at at all."""
MOST_CHARACTERS = 2_900
"""Of all lines together, the head of the answer left out."""

A = TypeVar("A", bound=Arguments)


class Spanned(Protocol):
    """Arguments that may say from when to when."""

    @property
    def start(self) -> datetime | None:
        """The first moment."""

    @property
    def end(self) -> datetime | None:
        """The last one."""


def stretch(asked: Spanned, bench: Bench) -> Window | Refused:
    """Take the stretch of time that was asked about."""
    return window(asked.start, asked.end, bench)


def line_tool(
    name: ToolName,
    arguments: type[A],
    *,
    backend: Callable[[Bench], EvidenceTool | None],
    queries: Callable[[A, Bench], Mapping[str, str]],
    when: Callable[[A, Bench], Window | datetime | Refused],
) -> Tool[A]:
    """Make a tool; all that differs from one to the next is whom it asks, and how.

    Args:
        name: what a model calls it by.
        arguments: what a model may give.
        backend: whom it asks; None is not configured, and the tool is not offered.
        queries: the question in the backend's own terms, held to what is the client's.
        when: the time it is about.
    """

    async def want(asked: A, bench: Bench) -> Wanted | Refused:
        span = when(asked, bench)
        if isinstance(span, Refused):
            return span
        put = queries(asked, bench)
        about = {"window": span} if isinstance(span, Window) else {"at": span}
        start_at, end_at = (
            (span.start_at, span.end_at) if isinstance(span, Window) else (span, span)
        )
        question = Question(tool=asked_of(bench).name, queries=put, **about)
        words = "/".join(put.values())
        return Wanted(asked=words, start_at=start_at, end_at=end_at, question=question)

    async def tell(wanted: Wanted, bench: Bench) -> Told:
        assert wanted.question is not None
        return told(await asked_of(bench).ask(wanted.question), asked_of(bench).name)

    def asked_of(bench: Bench) -> EvidenceTool:
        there = backend(bench)
        assert there is not None, "the tool is not offered without"
        return there

    return Tool(
        name=name,
        arguments=arguments,
        offered=lambda bench: backend(bench) is not None,
        want=want,
        tell=tell,
    )


def told(outcome: Outcome, backend: str) -> Told:
    """Give the newest lines of an answer."""
    return Told(
        outcome=outcome_of(outcome),
        text=_text(outcome),
        longest_line=LONGEST_LINE,
        whole=canonical_json(outcome.model_dump(mode="json")),
        backend=backend,
    )


def _text(outcome: Outcome) -> str:
    match outcome:
        case Gap():
            return f"no answer ({outcome.cause}) {plain(outcome.detail)}".strip()
        case Invalid():
            return f"no answer ({outcome.reason}) {plain(outcome.detail)}".strip()
        case Empty():
            return "(nothing)"
        case Answered():
            return _digest(outcome)


def _digest(answer: Answered) -> str:
    """Keep the newest lines that there is room for."""
    kept: list[str] = []
    room = MOST_CHARACTERS
    for line in reversed(answer.lines[-MOST_LINES:]):
        said = plain(line, LONGEST_READ)
        room -= min(len(said), LONGEST_LINE) + 1
        if room < 0:
            break
        kept.insert(0, said)
    left = len(answer.lines) - len(kept) + answer.truncated
    head = [f"{len(answer.lines)} lines"] + ([f"{left} left out"] if left else [])
    return "\n".join([", ".join(head), *kept])
