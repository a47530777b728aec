"""What the desk changes, beyond what the engine's other parts do."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import datetime
from typing import NamedTuple, Protocol

from typing_extensions import override

from engine.model.incident import Incident
from engine.model.memory import Stub
from engine.model.org import Role
from engine.model.review import Verdict
from engine.model.standing import Saved
from engine.ports import Incidents, Outcomes, Runs, Stubs, Tx


class Word(NamedTuple):
    """Who did something, and when."""

    by: str
    at: datetime


class DeskIncidents(Incidents, Protocol):
    """Incidents as people change them."""

    async def alone(self, incident_id: str) -> None:
        """Decide alone about an incident until the transaction ends."""

    async def take(self, incident_id: str, by: str, account: str) -> bool:
        """Put a name on an incident; False when one stands there."""

    async def taken(self, incident_id: str) -> Word | None:
        """Whose name stands on it."""

    async def open_for_client(self, client_id: str) -> Sequence[Incident]:
        """Every open incident of a client, the oldest first."""

    async def split(self, incident_id: str, into_id: str, group_id: str) -> None:
        """Move the members of one group to another incident."""

    async def part(self, merged_id: str, from_id: str) -> None:
        """Give a merged incident back what the other took over from it."""

    async def named(self, client_id: str, said: str) -> Incident | None:
        """The incident a person means: by its number in the client, or by its id."""

    async def save(
        self, client_id: str, saved: Sequence[Saved], events: Mapping[str, int]
    ) -> Sequence[Saved]:
        """Keep incidents and their changed members."""


class DeskRuns(Runs, Protocol):
    """Runs as people stop them."""

    async def stop(self, triage_id: str, by: str) -> bool:
        """Ask a run to stop looking; False when somebody did."""


class DeskOutcomes(Outcomes, Protocol):
    """Verdicts, and who gave them."""

    async def newest(self, triage_id: str, verdict: Verdict) -> Word | None:
        """Whose verdict stands on a finding, when it is this one."""


class DeskStubs(Stubs, Protocol):
    """What was learned, as people approve it."""

    async def keep(self, stub: Stub) -> None:
        """Keep a stub as it is now."""

    async def get(self, stub_id: str) -> Stub | None:
        """One stub."""


class Mutes(Protocol):
    """Families that may not ring."""

    async def keep(self, client_id: str, family_key: str, until: datetime, by: str) -> None:
        """Mute a family; a later time wins over an earlier one."""


class Holders(Protocol):
    """Who holds a role."""

    async def holders(self, role: Role, client_id: str) -> Sequence[str]:
        """Names of active people who hold a role in a client."""


class DeskTx(Tx, Protocol):
    """One transaction as the desk sees it."""

    @property
    @override
    def incidents(self) -> DeskIncidents:
        """Incidents."""

    @property
    @override
    def runs(self) -> DeskRuns:
        """Triage runs."""

    @property
    @override
    def outcomes(self) -> DeskOutcomes:
        """Verdicts."""

    @property
    @override
    def stubs(self) -> DeskStubs:
        """What was learned."""

    @property
    def mutes(self) -> Mutes:
        """Families that may not ring."""

    @property
    def people(self) -> Holders:
        """Who holds a role."""


class DeskStore(Protocol):
    """The database."""

    def begin(self) -> AbstractAsyncContextManager[DeskTx]:
        """Open a transaction: committed on leaving, rolled back on an error."""
