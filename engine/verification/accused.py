"""A cause with everything it has to stand up to, and the names by which it is found there."""

from collections.abc import Iterator, Sequence

from engine.model.base import Frozen
from engine.model.finding import CauseKey, CheckResult, ClaimRuling
from engine.model.ledger import LedgerEntry
from engine.model.pack import CauseClass, ChangeFacts, Item, MetricDigest, Pack

SHORTEST_NAME = 4
"""A name shorter than this is part of too many others."""
SERVICES = ("service", "app", "workload", "deployment", "statefulset", "daemonset", "component")
CHANGES = frozenset({CauseClass.DEPLOY, CauseClass.CONFIG_CHANGE})


class Accused(Frozen):
    """A cause with everything it has to stand up to."""

    cause: CauseKey
    rulings: tuple[ClaimRuling, ...]
    pack: Pack
    results: tuple[CheckResult, ...] = ()
    ledger: tuple[LedgerEntry, ...] = ()

    @property
    def cited(self) -> frozenset[str]:
        """Ids the key claims rest on; those of all claims when none is marked as key."""
        key = [r for r in self.rulings if r.claim.key] or self.rulings
        return frozenset(i for r in key for i in (*r.claim.evidence_ids, *r.evidence_ids))

    @property
    def cited_items(self) -> tuple[Item, ...]:
        """Pieces of the pack the key claims rest on."""
        return tuple(item for item in self.pack.items if item.id in self.cited)

    def about(self, *names: str) -> bool:
        """Whether any of these names is the blamed component, or one is the longer form of it."""
        return any(alike(plain(self.cause.component), plain(name)) for name in names)

    def is_called(self, name: str) -> bool:
        """Whether the blamed component has this very name."""
        return plain(self.cause.component) == plain(name)

    def changed(self, change: ChangeFacts) -> bool:
        """Whether a change was made to the blamed component."""
        return self.about(change.component, *(change.labels.get(name, "") for name in SERVICES))

    @property
    def changes(self) -> tuple[ChangeFacts, ...]:
        """Every change in the pack."""
        return tuple(i.facts for i in self.pack.items if isinstance(i.facts, ChangeFacts))

    @property
    def is_change(self) -> bool:
        """Whether what is blamed is something that was done to the component."""
        cited = (i.facts for i in self.cited_items if isinstance(i.facts, ChangeFacts))
        return self.cause.cause_class in CHANGES or any(map(self.changed, cited))


def alike(one: str, other: str) -> bool:
    """Whether two names are the same, or one is the longer form of the other."""
    short, long = sorted((one, other), key=len)
    return one == other or (len(short) >= SHORTEST_NAME and short in long)


def plain(name: str) -> str:
    """A name as it is compared."""
    return name.strip().lower()


def digests(items: Sequence[Item]) -> Iterator[MetricDigest]:
    """Give what was measured."""
    return (item.facts for item in items if isinstance(item.facts, MetricDigest))
