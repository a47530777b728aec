"""The numbered record of what was asked; what it can answer is asked of nobody else."""

from collections.abc import Callable
from dataclasses import dataclass, field

from engine.investigation.tool import Wanted
from engine.model.evidence import QueryOutcome
from engine.model.ledger import LedgerEntry, ToolName

SAME_INSTANT_S = 60.0
COVERED = 0.8
"""Share of the longer of two stretches of time that both have to have."""
_ANSWERS = frozenset({QueryOutcome.FETCHED, QueryOutcome.EMPTY})
Same = Callable[[str, str], bool]


@dataclass
class Ledger:
    """Entries of one run, in order; those a dead worker left answer its own calls again."""

    entries: list[LedgerEntry] = field(default_factory=list)
    kept: list[LedgerEntry] = field(default_factory=list)
    """Each is taken up when its call is made again."""

    def again(self, call: int, tool: ToolName, arguments: str) -> LedgerEntry | None:
        """Take up the stored answer to this very call."""
        wanted = (call, tool, arguments)
        for entry in self.kept:
            if (entry.call, entry.tool, entry.arguments) == wanted:
                self.kept.remove(entry)
                self.entries.append(entry)
                return entry
        return None

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
    """Whether both ask about the same moment, or about nearly the same stretch of time."""
    lengths_s = [(span.end_at - span.start_at).total_seconds() for span in (one, other)]
    if not all(lengths_s):
        apart_s = abs((one.end_at - other.end_at).total_seconds())
        return not any(lengths_s) and apart_s <= SAME_INSTANT_S
    start, end = max(one.start_at, other.start_at), min(one.end_at, other.end_at)
    return (end - start).total_seconds() >= COVERED * max(lengths_s)
