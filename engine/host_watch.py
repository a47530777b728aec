"""Host monitoring as the engine needs it, and which of an incident's hosts are asked about."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Protocol

from engine.identity import host_of
from engine.model.evidence import Gap
from engine.model.hosts import Problem, WatchedHost
from engine.model.incident import Incident
from engine.model.policy import CorrelationRule

MOST_HOSTS = 3


class HostWatch(Protocol):
    """A monitoring of hosts, read-only, with its client bound inside; a gap is a value."""

    async def hosts(self, names: Sequence[str]) -> Sequence[WatchedHost] | Gap:
        """The hosts known by these names or addresses."""

    async def sizes(self, group_ids: Sequence[str]) -> Mapping[str, int] | Gap:
        """How many hosts each group holds."""

    async def members(self, group_ids: Sequence[str]) -> Sequence[WatchedHost] | Gap:
        """The hosts of any of these groups that are polled."""

    async def problems(self, host_ids: Sequence[str]) -> Sequence[Problem] | Gap:
        """What is wrong on any of these hosts now, newest first."""


def every_host(incident: Incident, rule: CorrelationRule) -> list[str]:
    """Give the hosts its members name, those named most often first, then by name."""
    named = Counter(filter(None, (host_of(member.alert, rule) for member in incident.members)))
    return sorted(named, key=lambda name: (-named[name], name))


def asked_hosts(incident: Incident, rule: CorrelationRule) -> list[str]:
    """Give the few that are asked about."""
    return every_host(incident, rule)[:MOST_HOSTS]
