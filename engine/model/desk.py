"""A press and its answer, in the words of no chat."""

from collections.abc import Mapping
from enum import StrEnum

from pydantic import AwareDatetime

from engine.model.action import Action
from engine.model.base import Frozen
from engine.model.org import Identity, Person, Role


class Membership(StrEnum):
    """What an account is in the room it speaks from, as the chat says at that moment."""

    FULL = "full"
    GUEST = "guest"
    BOT = "bot"
    OUTSIDE = "outside"
    """Not in the room, or nobody could say."""


class Actor(Frozen):
    """Whoever presses or asks."""

    identity: Identity
    name: str
    """What they are called: their own name here, else what the chat shows."""
    membership: Membership
    person: Person | None = None
    """Whose account it is; None for an account that was never linked."""

    @property
    def key(self) -> str:
        """The account as the audit trail has it."""
        return f"{self.identity.platform}:{self.identity.account}"

    @property
    def signed(self) -> str:
        """Name and account: what stands under a decision for good."""
        return f"{self.name} ({self.key})"

    def holds(self, role: Role, client_id: str) -> bool:
        """Whether the account's person has a role in a client; `admin` is no other role."""
        roles = {} if self.person is None else self.person.roles
        return role in roles.get(client_id, ()) or role in roles.get("*", ())


class Press(Frozen):
    """A button pressed, or a form handed in."""

    client_id: str
    incident_id: str
    action: Action
    subject_id: str = ""
    """The finding it was shown on, for what is said of a finding."""


class AnswerKind(StrEnum):
    """How a press ended."""

    DONE = "done"
    ALREADY = "already"
    """Somebody did it before; who and when stand beside it."""
    SHOWN = "shown"
    """Nothing changed: the answer is the record itself."""
    GUEST = "guest"
    """Guests and bots may read."""
    DEACTIVATED = "deactivated"
    LACKS_ROLE = "lacks_role"
    OFF = "off"
    """The client's flag is off."""
    NO_FINDING = "no_finding"
    CHANGED = "changed"
    """Another finding stands there now."""
    OVER = "over"
    """The incident is not open any more."""
    STILL_OPEN = "still_open"
    NOTHING_RUNS = "nothing_runs"
    INCOMPLETE = "incomplete"
    """What was handed in misses something."""
    NOTHING_ELSE = "nothing_else"
    """There is nothing it could be merged with or taken apart from."""
    NOT_THERE = "not_there"
    """What it names is not there, or another client's."""
    OLD_CARD = "old_card"
    """The button stands on a card of an older version."""
    EXPIRED = "expired"
    """The question was open for too long, or was answered."""


class Answer(Frozen):
    """What a press came to; cards words it."""

    kind: AnswerKind
    action: Action | None = None
    by: str = ""
    """Who did it, when it was somebody else."""
    at: AwareDatetime | None = None
    until: AwareDatetime | None = None
    number: int | None = None
    """Of the incident that was done something to."""
    role: Role | None = None
    """The one that is missing."""
    ask: tuple[str, ...] = ()
    """People who hold it."""


class FieldName(StrEnum):
    """What a form asks for."""

    CAUSE = "cause"
    OTHER_CAUSE = "other_cause"
    INCIDENT = "incident"
    GROUP = "group"
    SYMPTOM = "symptom"
    ROOT_CAUSE = "root_cause"
    FIX = "fix"
    RUNBOOK = "runbook"
    REASON = "reason"


class Choice(Frozen):
    """One thing that may be chosen."""

    value: str
    label: str
    """Text from outside."""


class Field(Frozen):
    """One thing a form asks for: a choice where choices are given, else text."""

    name: FieldName
    choices: tuple[Choice, ...] = ()
    initial: str = ""
    required: bool = False


class Asks(Frozen):
    """A press that needs to know more."""

    action: Action
    fields: tuple[Field, ...]


Values = Mapping[FieldName, str]
"""What was handed in."""
