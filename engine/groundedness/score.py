"""How much of what a finding names stands in the evidence. It never says the finding is right."""

from collections.abc import Mapping, Sequence

from pydantic import Field

from engine.groundedness.corpus import Corpus
from engine.groundedness.extract import indicators
from engine.groundedness.kinds import Indicator
from engine.model.base import Frozen
from engine.model.policy import GroundednessRule


class Groundedness(Frozen):
    """What of a finding's indicators the evidence holds. A floor against fabrication, no more."""

    score: float | None = Field(None, ge=0, le=1)
    """Found of cited; None when there was nothing to check, which is no score of 1."""
    found: tuple[Indicator, ...] = ()
    missing: tuple[Indicator, ...] = ()
    memory_only: tuple[Indicator, ...] = ()
    """Stands only in what was recalled: cited, and not found in this incident's evidence."""
    derived: tuple[Indicator, ...] = ()
    """Estimates and shares that do not stand in the evidence; they decide nothing."""

    @property
    def cited(self) -> int:
        """How many indicators decided."""
        return len(self.found) + len(self.missing) + len(self.memory_only)

    @property
    def offenders(self) -> tuple[Indicator, ...]:
        """What a reader must be told is not in the evidence."""
        return (*self.missing, *self.memory_only)


def told(groundedness: Groundedness) -> Mapping[str, str | int]:
    """Name what is not in the evidence, a line each, with the kind of each beside it."""
    once = {" ".join(one.text.split()): one.kind for one in groundedness.offenders}
    return {
        "offenders": "\n".join(once),
        "kinds": "\n".join(once.values()),
        "cited": groundedness.cited,
    }


def score(
    cited_texts: Sequence[str],
    evidence_texts: Sequence[str],
    *,
    known: Sequence[str] = (),
    memory_texts: Sequence[str] = (),
) -> Groundedness:
    """Look up what the cited texts name.

    Args:
        cited_texts: what the finding says.
        evidence_texts: alerts, pack and round results; never a model's own words.
        known: label values of the evidence, besides those its texts show.
        memory_texts: what was recalled of earlier incidents.
    """
    evidence, memory = Corpus(evidence_texts), Corpus(memory_texts)
    names = (*known, *evidence.names, *memory.names)
    cited = indicators("\n".join(cited_texts), names)
    held = [one for one in cited if evidence.holds(one)]
    absent = [one for one in cited if one not in held]
    recalled = [one for one in absent if not one.derived and memory.holds(one)]
    missing = [one for one in absent if not one.derived and one not in recalled]
    found = [one for one in held if not one.derived]
    count = len(found) + len(missing) + len(recalled)
    return Groundedness(
        score=len(found) / count if count else None,
        found=tuple(found),
        missing=tuple(missing),
        memory_only=tuple(recalled),
        derived=tuple(one for one in absent if one.derived),
    )


def demotes(groundedness: Groundedness, rule: GroundednessRule) -> bool:
    """Whether a person must look before anything is built on the finding."""
    if groundedness.score is None:
        return False
    if groundedness.cited < rule.min_indicators:
        return not groundedness.found
    return groundedness.score < rule.floor
