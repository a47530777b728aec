"""What a command is, and what it is given."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from bot.chats.arrival import Arrival, Reply
from engine.model.desk import Actor
from engine.model.org import Client, Role
from engine.model.policy import Budget
from storage.rooms import Bound
from storage.store import SqlTx


@dataclass(frozen=True)
class Connected:
    """What one client's configuration connects, and what a day may cost it."""

    present: tuple[str, ...]
    absent: tuple[str, ...]
    budget: Budget = field(default_factory=Budget)


Names = Callable[[str], Sequence[Mapping[str, str]]]
"""Label sets that bear the names of a client's services and hosts."""


@dataclass(frozen=True)
class Install:
    """What is true of this install whatever is asked."""

    connected: Mapping[str, Connected]
    """By client."""
    model: bool
    names: Names
    count: Callable[[str], None]
    """Hears how a question ended at the gates."""


@dataclass(frozen=True)
class Spoken:
    """A command as it was said, inside its transaction."""

    tx: SqlTx
    arrival: Arrival
    actor: Actor
    rest: str
    """What stood behind the verb."""
    room: Bound | None
    """What the room may speak of; None where it is bound to nothing."""
    install: Install
    now: datetime

    @property
    def clients(self) -> tuple[Client, ...]:
        """Clients the room is bound to."""
        return () if self.room is None else self.room.clients

    @property
    def askable(self) -> tuple[Client, ...]:
        """Those of them that may be asked about: investigation is on."""
        return tuple(client for client in self.clients if client.flags.ai_triage)

    def administers(self, client_id: str) -> bool:
        """Whether whoever speaks may change a client's settings."""
        return self.actor.holds(Role.ADMIN, client_id)


Run = Callable[[Spoken], Awaitable[Reply | None]]
"""None: it is answered with silence."""


@dataclass(frozen=True)
class Command:
    """One entry of the table."""

    verb: str
    run: Run
