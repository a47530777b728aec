"""What a person has to look at, and what people said of findings."""

from enum import StrEnum

from pydantic import AwareDatetime

from engine.model.base import Frozen


class ReviewReason(StrEnum):
    """Why a person has to look; the gravest of a finding's reasons is kept."""

    UNGROUNDED = "ungrounded"
    INJECTION_SUSPECTED = "injection_suspected"
    CORRECTION_CONTRADICTED = "correction_contradicted"
    """The evidence speaks against what a person said was the cause."""
    REFUTED = "refuted"
    ABSTAINED = "abstained"
    UNVERIFIED_HIGH = "unverified_high"
    """Nothing backs the cause of a failure of high severity."""
    DEAD_LETTER = "dead_letter"
    """The investigation was given up."""


class ReviewItem(Frozen):
    """One thing to look at; a family has one open item at most."""

    id: int
    client_id: str
    family_key: str
    incident_id: str
    triage_id: str | None
    """The run it is about; None when it never got one."""
    number: int
    """Of the incident."""
    rule: str
    reason: ReviewReason
    seen: int
    """Findings that asked for it since it was opened."""
    opened_at: AwareDatetime
    closed_at: AwareDatetime | None = None
    closed_by: str | None = None
    """Who gave the verdict, or `expired`."""


class Verdict(StrEnum):
    """What a person says of a finding or of the fix that followed from it."""

    RIGHT = "right"
    WRONG = "wrong"
    FIX_WORKED = "fix-worked"
    FIX_FAILED = "fix-failed"
    """The fix failed; that says nothing of the cause."""


class Given(Frozen):
    """A verdict on one finding."""

    client_id: str
    family_key: str
    incident_id: str
    triage_id: str
    verdict: Verdict
    by: str
    model: str
    said: float | None
    """What the model said of its confidence, before any map and cap."""
    shown: float | None
    """The confidence people saw."""
    names_cause: bool
    """There was a cause to be right or wrong about."""
    cause: str | None = None
    """What the person said it really was."""


class Said(Frozen):
    """The verdict that stands on a finding."""

    verdict: Verdict
    by: str
    at: AwareDatetime
    cause: str = ""
    """What the person said it really was."""

    @property
    def name(self) -> str:
        """Who said it, without the account."""
        return self.by.rpartition(" (")[0] or self.by


class Label(Frozen):
    """A finding with a known outcome."""

    said: float
    shown: float
    held: bool
    """The cause was right, or the fix that followed from it worked."""


class FamilyRecord(Frozen):
    """How the verdicts on a family's findings came out."""

    held: int
    of: int
