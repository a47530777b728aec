"""Who the alerts belong to and who may speak: clients, teams, rooms, people."""

from collections.abc import Mapping
from enum import StrEnum

from pydantic import AwareDatetime, Field

from engine.model.base import Frozen

DRILL_CLIENT = "drill"
"""The client of rehearsals; excluded from memory, funnel and other incidents."""


class Platform(StrEnum):
    """Where a card can be shown."""

    SLACK = "slack"
    TELEGRAM = "telegram"
    CONSOLE = "console"


class Flags(Frozen):
    """What a client has switched on; each is independent of paging and paging of each."""

    ai_triage: bool = Field(False, description="Investigate alerts with a model.")
    ai_triage_manual: bool = Field(False, description="Wait for a press before investigating.")
    remediation: bool = Field(False, description="Propose fixes (never run without a press).")
    oncall_enabled: bool = Field(True, description="Page by the escalation routes.")

    @classmethod
    def from_legacy(cls, l1_agent: bool) -> "Flags":
        """Read the one flag that once stood for two: it set investigation and paging alike."""
        return cls(ai_triage=l1_agent, oncall_enabled=l1_agent)


class Client(Frozen):
    """The tenant. Its id is in every row and every unique key."""

    id: str = Field(pattern=r"^[a-z0-9][a-z0-9-]{0,62}$")
    flags: Flags = Flags()

    @property
    def is_drill(self) -> bool:
        """Whether this client holds rehearsals only."""
        return self.id == DRILL_CLIENT


class Team(Frozen):
    """A group of clients that share a room."""

    id: str
    client_ids: tuple[str, ...]


class RoomTriage(StrEnum):
    """Which severities a room wants investigated without a press."""

    CRITICAL = "critical"
    """Critical and high."""
    WARNING = "warning"
    """Warning and above."""
    OFF = "off"


class RoomSound(StrEnum):
    """Which new cards may ring in a room."""

    CRITICAL = "critical"
    """Critical and high."""
    WARNING = "warning"
    OFF = "off"


class Room(Frozen):
    """One place cards go: a chat, or one topic of it."""

    id: str
    platform: Platform
    chat: str
    """Slack channel name or id, Telegram chat id, or the console's name."""
    topic: int | None = None
    match: Mapping[str, str] = {}
    """Labels an alert must carry for its card to go here; empty takes what no other room took."""
    sound: RoomSound = RoomSound.CRITICAL
    triage: RoomTriage = RoomTriage.CRITICAL


class Role(StrEnum):
    """A grant beyond what every full member of a bound room may do."""

    RUNBOOKS_EXECUTE = "runbooks:execute"
    RESOLUTIONS_APPROVE = "resolutions:approve"
    ADMIN = "admin"


class Identity(Frozen):
    """A person's account in one chat."""

    platform: Platform
    account: str


class Person(Frozen):
    """One human, whatever chat they speak from."""

    id: str
    name: str
    identities: tuple[Identity, ...] = ()
    roles: Mapping[str, tuple[Role, ...]] = {}
    """Grants by client id; `*` holds in every client."""
    active: bool = True
    timezone: str | None = None
    """IANA name, as their chat told it."""
    linked_at: AwareDatetime | None = None
