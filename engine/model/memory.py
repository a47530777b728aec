"""What was learned from an earlier incident, confirmed by a person."""

from enum import StrEnum

from pydantic import AwareDatetime

from engine.model.base import Frozen
from engine.model.finding import CauseKey, Prior


class StubState(StrEnum):
    """Where a resolution stub stands."""

    DRAFT = "draft"
    APPROVED = "approved"
    FAILED = "failed"
    """Its fix was tried again and did not work."""


class Stub(Frozen):
    """Symptom, cause and fix of an incident that is over."""

    id: str
    client_id: str
    family_key: str
    symptom: str
    root_cause: str
    root_cause_key: CauseKey
    fix: str
    runbook: str | None = None
    state: StubState = StubState.DRAFT
    confirmed_by: str | None = None
    confirmed_at: AwareDatetime | None = None
    fixed_at: AwareDatetime | None = None
    """When the fix was made; until then nobody knows whether it holds."""
    triage_id: str | None = None
    """The finding it was drafted from."""

    @property
    def words(self) -> tuple[str, ...]:
        """Every word a model is shown of it; none of them is evidence of another case."""
        texts = (self.symptom, self.root_cause, self.fix, self.root_cause_key.component)
        return tuple(text for text in texts if text)


class Near(Frozen):
    """A stub that looks like the present symptom."""

    stub: Stub
    distance: float
    """Cosine distance: 0 is the same, 2 is the opposite."""
    held: bool = True
    """The family stayed quiet after the fix."""

    @property
    def prior(self) -> Prior:
        """What a finding says of where its cause was known from."""
        return Prior(
            stub_id=self.stub.id,
            distance=self.distance,
            confirmed_by=self.stub.confirmed_by or "",
            confirmed_at=self.stub.confirmed_at,
        )
