"""What a sender's format is to us: a name, and a pure function from a body to alerts."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Generic, TypeVar

from engine.model.alert import Alert
from engine.model.base import Frozen
from engine.model.change import Change

MAX_ALERTS = 20_000
"""A longer list is refused as a whole."""


class UnreadableError(Exception):
    """A body none of which could be used."""

    def __init__(self, reason: str, status: int = 400) -> None:
        """Keep what to tell the sender and with which HTTP status."""
        super().__init__(reason)
        self.reason = reason
        self.status = status


class Refused(Frozen):
    """One alert or change of a body that could not be read; its siblings could."""

    reason: str
    text: str
    """The part as JSON, for the quarantine list and a replay."""


class Parsed(Frozen):
    """What one body of alerts came to."""

    alerts: tuple[Alert, ...] = ()
    refused: tuple[Refused, ...] = ()
    truncated: int = 0
    """Alerts the sender says it left out."""
    sender_group: str | None = None
    """How the sender grouped them: a notification choice, recorded and no more."""
    notes: tuple[str, ...] = ()
    """What had to be assumed to read it, one sentence each."""


class ParsedChanges(Frozen):
    """What one body of changes came to."""

    changes: tuple[Change, ...] = ()
    refused: tuple[Refused, ...] = ()


T_co = TypeVar("T_co", bound=Parsed | ParsedChanges, covariant=True)


@dataclass(frozen=True)
class Source(Generic[T_co]):
    """A sender's format under the name it is configured by."""

    name: str
    read: Callable[[bytes, datetime, str], T_co]
    """(body, received_at, name the alerts carry) to what it says."""

    def parse(self, body: bytes, received_at: datetime) -> T_co:
        """Read one body.

        Raises:
            UnreadableError: nothing of the body can be used.
        """
        return self.read(body, received_at, self.name)

    def named(self, name: str) -> "Source[T_co]":
        """The same format under another configured name; the name is part of a fingerprint."""
        return replace(self, name=name)


AlertSource = Source[Parsed]
ChangeSource = Source[ParsedChanges]
