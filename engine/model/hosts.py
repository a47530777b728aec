"""What host monitoring knows: machines, the groups they stand in, and what is wrong with them."""

from enum import StrEnum

from pydantic import AwareDatetime

from engine.model.base import Frozen


class Reachable(StrEnum):
    """What the monitoring's own polling last found."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"
    """Nothing is polled there, or not yet."""


class Interface(Frozen):
    """One way a host is polled."""

    kind: str
    """Agent, SNMP, IPMI, JMX or active agent."""
    reachable: Reachable
    error: str = ""


class HostGroup(Frozen):
    """A group hosts are sorted into."""

    id: str
    name: str


class WatchedHost(Frozen):
    """A host as the monitoring has it."""

    id: str
    name: str
    asked: str
    """The name it was looked up by."""
    watched: bool = True
    """It is polled at all."""
    in_maintenance: bool = False
    interfaces: tuple[Interface, ...] = ()
    groups: tuple[HostGroup, ...] = ()

    @property
    def reachable(self) -> Reachable:
        """Unreachable on one interface is worth saying, whatever the others answer."""
        found = {interface.reachable for interface in self.interfaces}
        order = (Reachable.NO, Reachable.YES)
        return next((one for one in order if one in found), Reachable.UNKNOWN)


class Problem(Frozen):
    """Something that is wrong now."""

    id: str
    name: str
    severity: str
    since: AwareDatetime
    host_ids: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    """What people wrote on it, newest first."""
