"""Does the monitoring's own polling reach the incident's hosts, and was that work announced?"""

from collections.abc import Iterator, Sequence

from engine.host_watch import asked_hosts
from engine.model.evidence import Gap, QueryOutcome
from engine.model.hosts import Interface, Reachable, WatchedHost
from engine.verification.kind import HOSTS, CheckKind, Reach, Seen, Subject, plain, unanswered

NAME = "hosts by Zabbix's own polling"


async def run(subject: Subject, reach: Reach) -> Seen:
    """Say of each host whether it answers, on which interface not, and whether it is maintained."""
    now, names = reach.clock.now(), asked_hosts(subject.incident, reach.correlation)
    asked = f"reachability of {', '.join(names) or 'no host: the alerts name none'}"
    found = await reach.host_watch().hosts(names) if names else []
    if isinstance(found, Gap):
        return unanswered(found, asked=asked, name=NAME)
    told = any(host.reachable is not Reachable.UNKNOWN for host in found)
    return Seen(
        asked=asked,
        outcome=QueryOutcome.FETCHED if told else QueryOutcome.EMPTY,
        text=f"{NAME}: {'; '.join(_said(names, found)) or '(no host)'} at {now:%H:%M:%S}Z",
        scope={"host": "|".join(host.name for host in found)} if found else {},
        scoped=bool(found),
        evaluated_at=now,
        figures={state: sum(h.reachable is state for h in found) for state in Reachable},
    )


def _said(names: Sequence[str], found: Sequence[WatchedHost]) -> Iterator[str]:
    for host in found:
        yield f"{plain(host.name, 80)} {_state(host)}{_maintained(host)}"
    known = {host.asked for host in found}
    yield from (f"{plain(name, 80)} not known to Zabbix" for name in names if name not in known)


def _state(host: WatchedHost) -> str:
    if not host.watched:
        return "not monitored"
    match host.reachable:
        case Reachable.YES:
            return f"reachable ({', '.join(i.kind for i in host.interfaces if _is_up(i))})"
        case Reachable.NO:
            return f"UNREACHABLE ({', '.join(_why(i) for i in host.interfaces if _is_down(i))})"
        case Reachable.UNKNOWN:
            return "reachability unknown"


def _is_up(interface: Interface) -> bool:
    return interface.reachable is Reachable.YES


def _is_down(interface: Interface) -> bool:
    return interface.reachable is Reachable.NO


def _why(interface: Interface) -> str:
    error = plain(interface.error, 120)
    return f"{interface.kind}: {error}" if error else interface.kind


def _maintained(host: WatchedHost) -> str:
    return ", in maintenance" if host.in_maintenance else ", no maintenance"


CHECK = CheckKind(
    name="host_reachability",
    run=run,
    floor=lambda _subject, reach: reach.hosts is not None,
    backend=HOSTS,
)
