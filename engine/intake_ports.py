"""What intake asks of the store: events, incidents, sources, heartbeats, cards, jobs."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Protocol

from engine.model.incident import AlertGroup
from engine.model.standing import (
    EventKey,
    Flip,
    Heartbeat,
    Newest,
    Recalled,
    Saved,
    Seat,
    Sighting,
    Standing,
)
from engine.paging import Pages
from engine.ports import Cards, Jobs


class Events(Protocol):
    """Alert events and groups."""

    async def groups(
        self, client_id: str, wanted: Mapping[str, AlertGroup], sender_group: str | None
    ) -> Mapping[str, AlertGroup]:
        """The groups of these families, by family key; those that are missing are added."""

    async def keep(
        self,
        client_id: str,
        source: str,
        sightings: Sequence[Sighting],
        *,
        now: datetime,
        polled: bool,
    ) -> set[EventKey]:
        """Keep every event; returns those that were known and say nothing new."""

    async def newest(
        self, client_id: str, source: str, fingerprints: Iterable[str]
    ) -> Mapping[str, Newest]:
        """The newest event of each fingerprint."""


class StandingIncidents(Protocol):
    """Incidents as intake reads and keeps them."""

    async def lock(self, client_id: str) -> None:
        """Decide alone for a client until the transaction ends."""

    async def seats(self, client_id: str, fingerprints: Iterable[str]) -> Sequence[Seat]:
        """Every place these fingerprints have, merged incidents left out."""

    async def recall(
        self,
        client_id: str,
        group_ids: Iterable[str],
        now: datetime,
        idle_s: float,
        window_s: float,
    ) -> Recalled:
        """What is remembered of these groups.

        Raises:
            RecallError: the store could not answer; the transaction goes on.
        """

    async def joinable(self, client_id: str, now: datetime, late_s: float) -> Sequence[str]:
        """Open incidents in their window, or opened within `late_s`."""

    async def load(
        self, incident_ids: Iterable[str], *, fingerprints: Iterable[str] = ()
    ) -> Sequence[Standing]:
        """Incidents with a sample of their members, these fingerprints always among them."""

    async def save(
        self, client_id: str, saved: Sequence[Saved], events: Mapping[str, int]
    ) -> Sequence[Saved]:
        """Keep incidents and their changed members; new ones come back with their number."""

    async def keep_flips(self, client_id: str, flips: Sequence[Flip]) -> None:
        """Append transitions, in their order."""

    async def slide(self, client_id: str, newest: Mapping[str, Newest], now: datetime) -> None:
        """Move the last sight of members that still fire."""

    async def green_due(self, client_id: str, now: datetime) -> Sequence[str]:
        """Flapping incidents whose quiet time is over."""

    async def without_news(self, client_id: str, since: datetime) -> Sequence[str]:
        """Open incidents without activity since then."""

    async def close(self, client_id: str, incident_ids: Sequence[str], now: datetime) -> None:
        """Close incidents and call their firing members stale."""


class Sources(Protocol):
    """Senders of alerts."""

    async def seen(self, source_id: str, now: datetime, *, polled: bool) -> None:
        """Remember that a source spoke."""


class Heartbeats(Protocol):
    """Alerts that fire while all is well."""

    async def get(self, client_id: str, fingerprint: str) -> Heartbeat | None:
        """One heartbeat."""

    async def alive(self, client_id: str) -> Sequence[Heartbeat]:
        """Heartbeats that are not missing."""

    async def save(self, heartbeat: Heartbeat) -> None:
        """Keep it as it is now."""

    async def sighting(self, heartbeat: Heartbeat) -> tuple[Sighting, AlertGroup, int]:
        """Its newest event, with its group and the event's id."""


class IntakeTx(Protocol):
    """The transaction of one delivery."""

    @property
    def events(self) -> Events:
        """Alert events and groups."""

    @property
    def incidents(self) -> StandingIncidents:
        """Incidents."""

    @property
    def sources(self) -> Sources:
        """Senders."""

    @property
    def heartbeats(self) -> Heartbeats:
        """Heartbeats."""

    @property
    def pages(self) -> Pages:
        """Pages."""

    @property
    def cards(self) -> Cards:
        """Cards wished for."""

    @property
    def jobs(self) -> Jobs:
        """Jobs asked for."""
