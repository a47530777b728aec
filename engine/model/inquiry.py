"""A question a person asked in a room, and where its answer stands."""

from collections.abc import Mapping
from enum import StrEnum

from pydantic import AwareDatetime

from engine.model.base import Frozen
from engine.model.finding import Finding
from engine.model.run import FailureClass, Run, SkipReason

Scope = Mapping[str, str]
"""Labels whose values were named, such as `{"namespace": "shop", "service": "checkout"}`."""


class InquiryState(StrEnum):
    """Where an inquiry stands."""

    CHOOSING = "choosing"
    """Several things bear a name in it; a person has to say which."""
    UNPLACED = "unplaced"
    """Nothing bears any name in it."""
    WAITING = "waiting"
    """It is looked into, or is about to be."""
    ANSWERED = "answered"
    SKIPPED = "skipped"
    FAILED = "failed"


class Inquiry(Frozen):
    """A free question; it never opens an incident."""

    id: str
    client_id: str
    room_id: str
    text: str
    """As it was asked: text from outside."""
    asked_by: str
    account: str
    """`platform:account` of whoever asked."""
    asked_at: AwareDatetime
    start_at: AwareDatetime
    """The window it is about, which the answer says."""
    end_at: AwareDatetime
    state: InquiryState = InquiryState.WAITING
    scope: Mapping[str, str] = {}
    choices: tuple[Scope, ...] = ()
    """What it could be about, likeliest first."""
    skip_reason: SkipReason | None = None
    failure: FailureClass | None = None


class Answered(Frozen):
    """An inquiry with all that is known of it; what its message is drawn from."""

    inquiry: Inquiry
    run: Run | None = None
    finding: Finding | None = None
    names_client: bool = True
    """The room speaks of several clients: the answer says which."""
