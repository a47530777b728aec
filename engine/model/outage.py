"""A model provider that refuses us: since when, why, and when it is tried again."""

from datetime import datetime
from enum import StrEnum

from pydantic import AwareDatetime

from engine.model.base import Frozen


class OutageKind(StrEnum):
    """What a person has to put right."""

    NEEDS_PERSON = "needs_person"
    """Credit, quota or a limit."""
    KEY_REFUSED = "key_refused"
    NO_MODEL_THERE = "no_model_there"
    """Something answers that is no model: a sign-in page, a gateway without its database."""


class Outage(Frozen):
    """One outage of one provider, from its first refusal to the next answer."""

    id: str
    provider: str
    """Digest of its address and our key."""
    kind: OutageKind
    detail: str
    """Its own words."""
    refusals: int
    shut: bool
    """The breaker is open: nobody asks but for one trial at a time."""
    opened_at: AwareDatetime
    retry_at: AwareDatetime
    trial_until: AwareDatetime | None = None
    """A trial is on its way until then."""
    closed_at: AwareDatetime | None = None

    def lets_through(self, now: datetime, *, pressed: bool) -> bool:
        """Whether one may ask: a press at any time, others after the wait; one at a time."""
        if not self.shut:
            return True
        on_its_way = self.trial_until is not None and self.trial_until > now
        return not on_its_way and (pressed or self.retry_at <= now)
