"""Backends that answer in lines: asked, and their lines told oldest first."""

from engine.investigation.tool import Told, Wanted
from engine.model.base import canonical_json
from engine.model.evidence import Answered, Empty, Gap, Invalid, Outcome, outcome_of
from engine.ports import EvidenceTool
from engine.verification.kind import plain

MOST_LINES = 20
LONGEST_LINE = 300


async def told(wanted: Wanted, backend: EvidenceTool) -> Told:
    """Ask, and give the newest lines."""
    assert wanted.question is not None
    outcome = await backend.ask(wanted.question)
    return Told(
        outcome=outcome_of(outcome),
        text=_text(outcome),
        whole=canonical_json(outcome.model_dump(mode="json")),
        backend=backend.name,
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
    kept = answer.lines[-MOST_LINES:]
    left = len(answer.lines) - len(kept) + answer.truncated
    head = [f"{len(answer.lines)} lines"] + ([f"{left} left out"] if left else [])
    return "\n".join([", ".join(head), *(plain(line, LONGEST_LINE) for line in kept)])
