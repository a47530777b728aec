"""Findings against the truth: accuracy over answers only, and what was stamped wrongly."""

from collections.abc import Sequence

from engine.model.base import Frozen
from engine.model.finding import Disposition, Finding, TrustLevel
from engine.model.pack import CauseClass

SHORTEST_NAME = 3
"""A name shorter than this is part of too many others."""


class Truth(Frozen):
    """What was really wrong, as far as a finding can be held to it."""

    components: tuple[str, ...] = ()
    """Any of these is at fault; empty where no cause can be told and declining is right."""
    classes: tuple[CauseClass, ...] = ()
    """What kinds of cause it may be called; any where empty."""
    words: tuple[str, ...] = ()
    """What the cause must say."""
    never: tuple[str, ...] = ()
    """What the cause must not say."""

    @property
    def tells(self) -> bool:
        """Whether there is a cause to be found."""
        return bool(self.components or self.words)

    def holds(self, finding: Finding) -> bool:
        """Whether a finding that names a cause names this one."""
        if finding.root_cause is None or finding.root_cause_key is None or not self.tells:
            return False
        claims = (ruling.claim.text for ruling in finding.claims)
        said = " ".join([finding.root_cause, *claims]).lower()
        key = finding.root_cause_key
        kind = not self.classes or key.cause_class in self.classes
        named = not self.components or any(
            _alike(key.component.lower(), one.lower()) for one in self.components
        )
        spoken = all(word.lower() in said for word in self.words)
        return named and kind and spoken and not any(word.lower() in said for word in self.never)


def _alike(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    return one == other or (len(short) >= SHORTEST_NAME and short in long)


class Graded(Frozen):
    """One case and what became of it."""

    case: str
    disposition: Disposition
    trust_level: TrustLevel
    correct: bool
    """Of a finding that names a cause; false for one that names none."""
    named: bool
    """It names a cause, whatever a person has to look at first."""
    said: str = ""

    @property
    def false_verified(self) -> bool:
        """Stamped verified, and wrong."""
        return self.trust_level is TrustLevel.VERIFIED and not self.correct


def graded(case: str, finding: Finding, truth: Truth) -> Graded:
    """Hold a finding against what was really wrong."""
    return Graded(
        case=case,
        disposition=finding.disposition,
        trust_level=finding.trust_level,
        correct=truth.holds(finding),
        named=finding.root_cause is not None,
        said=finding.root_cause or finding.missing,
    )


class Tally(Frozen):
    """What many cases come to. A rate without anything to count is None, not zero."""

    cases: tuple[Graded, ...]

    @classmethod
    def of(cls, cases: Sequence[Graded]) -> "Tally":
        """Count these cases."""
        return cls(cases=tuple(cases))

    @property
    def judged(self) -> int:
        """Cases with a valid answer of any kind; the others are in no rate."""
        return sum(one.disposition is not Disposition.NOT_JUDGED for one in self.cases)

    @property
    def answered(self) -> tuple[Graded, ...]:
        """Cases that name a cause and were not sent to a person."""
        return tuple(one for one in self.cases if one.disposition is Disposition.ANSWERED)

    @property
    def accuracy(self) -> float | None:
        """Share of the answered ones that are right; abstentions are not in it."""
        return _share(sum(one.correct for one in self.answered), len(self.answered))

    @property
    def abstention_rate(self) -> float | None:
        """Share of the judged ones that declined to name a cause."""
        declined = sum(one.disposition is Disposition.ABSTAINED for one in self.cases)
        return _share(declined, self.judged)

    @property
    def verified(self) -> int:
        """Cases stamped verified."""
        return sum(one.trust_level is TrustLevel.VERIFIED for one in self.cases)

    @property
    def false_verified(self) -> int:
        """Cases stamped verified that are wrong."""
        return sum(one.false_verified for one in self.cases)

    @property
    def false_verified_rate(self) -> float | None:
        """Share of the judged ones that are stamped verified and wrong."""
        return _share(self.false_verified, self.judged)


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
