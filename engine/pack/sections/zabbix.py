"""What Zabbix holds on the incident's hosts: their state, their problems, what people wrote."""

from collections.abc import Sequence

from engine.host_watch import asked_hosts
from engine.model.evidence import Gap
from engine.model.hosts import Problem, Reachable, WatchedHost
from engine.model.pack import SectionName, TextFacts
from engine.pack.section import Case, Gathered, Items, PackSection, Ports, SectionNote

_MOST_PROBLEMS = 6
_MOST_NOTES = 3


async def gather(case: Case) -> Gathered:
    """Three bounded kinds of line; text that people wrote is marked as theirs."""
    assert case.ports.hosts is not None, "the section is not gathered without"
    items = Items("Z", case)
    names = asked_hosts(case.incident, case.subject.correlation)
    if not names:
        return items.section(SectionName.ZABBIX, note=SectionNote.NO_HOST)
    hosts = await case.ports.hosts.hosts(names)
    if isinstance(hosts, Gap):
        return items.section(SectionName.ZABBIX, gap=hosts)
    for host in hosts:
        items.add(_state(host))
    problems = await case.ports.hosts.problems([host.id for host in hosts]) if hosts else []
    if isinstance(problems, Gap):
        return items.section(SectionName.ZABBIX, gap=problems)
    for problem in problems[:_MOST_PROBLEMS]:
        items.add(_said(problem, hosts), TextFacts(untrusted=True))
    notes = [(problem, note) for problem in problems for note in problem.notes]
    for problem, note in notes[:_MOST_NOTES]:
        items.add(f"somebody wrote on {problem.name!r}: {note}", TextFacts(untrusted=True))
    items.leave_out(max(0, len(problems) - _MOST_PROBLEMS) + max(0, len(notes) - _MOST_NOTES))
    return items.section(SectionName.ZABBIX)


def _state(host: WatchedHost) -> str:
    words = {
        Reachable.YES: "is reachable",
        Reachable.NO: "is not reachable",
        Reachable.UNKNOWN: "is of unknown reachability",
    }
    maintained = "in maintenance" if host.in_maintenance else "not in maintenance"
    return f"host {host.name} {words[host.reachable]} and {maintained}"


def _said(problem: Problem, hosts: Sequence[WatchedHost]) -> str:
    where = ", ".join(host.name for host in hosts if host.id in problem.host_ids)
    return (
        f"problem on {where or 'the host'} since {problem.since:%Y-%m-%d %H:%M:%S}Z"
        f" ({problem.severity}): {problem.name}"
    )


def _configured(ports: Ports) -> bool:
    return ports.hosts is not None


SECTION = PackSection(
    name=SectionName.ZABBIX, configured=_configured, gather=gather, anchored=False
)
