"""The numbered record of what was asked; what it can answer is asked of nobody else."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from engine.investigation.tool import Wanted
from engine.model.evidence import QueryOutcome
from engine.model.ledger import LedgerEntry, ToolName

SAME_INSTANT_S = 60.0
COVERED = 0.8
"""Share of a stretch of time that an earlier answer has to cover."""
_ANSWERS = frozenset({QueryOutcome.FETCHED, QueryOutcome.EMPTY})
Same = Callable[[str, str], bool]


@dataclass
class Ledger:
    """Entries of one run, in order; those a dead worker left answer its own calls again."""

    entries: list[LedgerEntry] = field(default_factory=list)
    kept: dict[int, LedgerEntry] = field(default_factory=dict)
    """By the call they answer; taken up when that call is made again."""

    @classmethod
    def of(cls, kept: Sequence[LedgerEntry]) -> "Ledger":
        """Begin with what is stored of the run."""
        return cls(kept={entry.call: entry for entry in kept})

    def again(self, call: int, tool: ToolName, arguments: str) -> LedgerEntry | None:
        """The stored answer to this very call."""
        entry = self.kept.get(call)
        if entry is None or (entry.tool, entry.arguments) != (tool, arguments):
            return None
        return entry

    def next_id(self) -> str:
        """The id the next entry has."""
        numbers = [int(entry.id[1:]) for entry in self.entries]
        return f"T{max(numbers, default=0) + 1}"

    def like(self, tool: ToolName, wanted: Wanted, same: Same) -> LedgerEntry | None:
        """An entry that answers the same question of about the same time."""
        return next(
            (
                entry
                for entry in self.entries
                if entry.tool is tool
                and entry.outcome in _ANSWERS
                and covers(entry, wanted)
                and same(entry.asked, wanted.asked)
            ),
            None,
        )


def covers(one: LedgerEntry | Wanted, other: Wanted) -> bool:
    """Whether the time of `one` is nearly all of the time `other` asks about."""
    length_s = (other.end_at - other.start_at).total_seconds()
    if length_s <= 0 or one.start_at == one.end_at:
        both = one.start_at == one.end_at and length_s <= 0
        return both and abs((one.end_at - other.end_at).total_seconds()) <= SAME_INSTANT_S
    start, end = max(one.start_at, other.start_at), min(one.end_at, other.end_at)
    return (end - start).total_seconds() >= COVERED * length_s
