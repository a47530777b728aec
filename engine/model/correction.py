"""What a person said was really the cause, and how a later triage stands to it."""

from enum import StrEnum
from typing import Final

from pydantic import AwareDatetime

from engine.model.base import Frozen

CAUSE_SERIES: Final = "cause_series"
"""The kind of check that looks at the cause a person named."""
WIDENED: Final = "widened"


class Correction(Frozen):
    """A person's verdict on alerts of one rule on one failing scope, with what can test it."""

    id: str
    client_id: str
    family_key: str
    rule: str
    """Name of the alert."""
    cause: str
    cause_series: tuple[str, ...] = ()
    """Series that would show this cause; each becomes one probe."""
    widened: tuple[str, ...] = ()
    """Queries that look further than the alert did."""
    by: str
    """The person's id."""
    at: AwareDatetime


class OperatorRuling(StrEnum):
    """How the judgement stands to a correction."""

    SUPPORTED = "supported"
    CONTRADICTED = "contradicted"
    UNVERIFIABLE = "unverifiable"
    ABSENT = "absent"
    """Set by code: there was a judgement, and it did not rule."""
    UNRULED = "unruled"
    """Set by code: there was no judgement to rule."""


class Steering(Frozen):
    """A correction that governed a triage, and what became of it."""

    correction_id: str
    captured_at: AwareDatetime
    ruling: OperatorRuling
    backed: bool = False
    """It rests on a fetched probe of the cause; an unbacked ruling proves nothing."""
    evidence_ids: tuple[str, ...] = ()

    @property
    def tested(self) -> bool:
        """Whether the evidence said yes or no."""
        told = {OperatorRuling.SUPPORTED, OperatorRuling.CONTRADICTED}
        return self.backed and self.ruling in told

    @property
    def contradicted(self) -> bool:
        """Whether the evidence speaks against the person, who should look again."""
        return self.backed and self.ruling is OperatorRuling.CONTRADICTED
