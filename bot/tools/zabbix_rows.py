"""What Zabbix's API lists, as far as it is read, brought into the engine's values."""

from collections.abc import Mapping
from datetime import UTC, datetime

from pydantic import BaseModel, TypeAdapter

from engine.model.hosts import HostGroup, Interface, Problem, Reachable, WatchedHost

_KINDS = {1: "agent", 2: "SNMP", 3: "IPMI", 4: "JMX"}
_REACHABLE = {1: Reachable.YES, 2: Reachable.NO}
_SEVERITIES = ("not classified", "information", "warning", "average", "high", "disaster")
_MOST_NOTES = 3


class InterfaceRow(BaseModel):
    """An address a host is polled at; numbers come as text."""

    type: int = 1
    available: int = 0
    error: str = ""

    @property
    def interface(self) -> Interface:
        """The engine's value."""
        return Interface(
            kind=_KINDS.get(self.type, "interface"),
            reachable=_REACHABLE.get(self.available, Reachable.UNKNOWN),
            error=self.error,
        )


class GroupRow(BaseModel):
    """A host group; `hosts` is a count where it was asked for as one."""

    groupid: str
    name: str = ""
    hosts: int = 0


class HostRow(BaseModel):
    """A host. Its groups have two names, by version."""

    hostid: str
    host: str
    name: str = ""
    status: int = 0
    maintenance_status: int = 0
    active_available: int = 0
    """Active agents, from 6.2 on."""
    interfaces: list[InterfaceRow] = []
    groups: list[GroupRow] = []
    hostgroups: list[GroupRow] = []

    def named(self, asked: str) -> WatchedHost:
        """The engine's value, found by this name."""
        polled = [row.interface for row in self.interfaces]
        if self.active_available in _REACHABLE:
            state = _REACHABLE[self.active_available]
            polled.append(Interface(kind="active agent", reachable=state))
        return WatchedHost(
            id=self.hostid,
            name=self.host,
            asked=asked,
            watched=self.status == 0,
            in_maintenance=self.maintenance_status == 1,
            interfaces=tuple(polled),
            groups=tuple(
                HostGroup(id=row.groupid, name=row.name) for row in self.groups or self.hostgroups
            ),
        )


class AddressRow(BaseModel):
    """An interface by its address."""

    hostid: str
    ip: str = ""
    dns: str = ""


class NoteRow(BaseModel):
    """What somebody wrote when they acknowledged a problem."""

    message: str = ""


class ProblemRow(BaseModel):
    """A problem; the trigger behind it knows its hosts."""

    eventid: str
    objectid: str
    name: str
    severity: int = 0
    clock: int = 0
    acknowledges: list[NoteRow] = []

    def on(self, hosts: Mapping[str, tuple[str, ...]]) -> Problem:
        """The engine's value, with the hosts of its trigger."""
        known = 0 <= self.severity < len(_SEVERITIES)
        notes = [row.message for row in self.acknowledges if row.message]
        return Problem(
            id=self.eventid,
            name=self.name,
            severity=_SEVERITIES[self.severity if known else 0],
            since=datetime.fromtimestamp(self.clock, UTC),
            host_ids=hosts.get(self.objectid, ()),
            notes=tuple(notes[:_MOST_NOTES]),
        )


class OnHostRow(BaseModel):
    """A host by its id alone."""

    hostid: str


class TriggerRow(BaseModel):
    """A trigger and the hosts its expression looks at."""

    triggerid: str
    hosts: list[OnHostRow] = []


HOSTS = TypeAdapter(list[HostRow])
GROUPS = TypeAdapter(list[GroupRow])
ADDRESSES = TypeAdapter(list[AddressRow])
PROBLEMS = TypeAdapter(list[ProblemRow])
TRIGGERS = TypeAdapter(list[TriggerRow])
