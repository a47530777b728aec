"""Do the neighbours of the incident's hosts burn as well? Functional groups before catch-alls."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from engine.host_watch import HostWatch, asked_hosts, every_host
from engine.model.evidence import Gap, QueryOutcome
from engine.model.hosts import HostGroup, Problem, WatchedHost
from engine.verification.kind import HOSTS, CheckKind, Reach, Seen, Subject, plain, unanswered

NAME = "neighbours in Zabbix"
MOST_NEIGHBOURS = 50
MOST_NAMED = 5
_TOLD_GROUPS = 8


@dataclass(frozen=True)
class _Neighbours:
    """Who stands beside the incident's hosts, and where was looked for them."""

    hosts: Sequence[WatchedHost]
    own: Sequence[WatchedHost]
    searched: Sequence[HostGroup]
    left_out: Sequence[HostGroup]
    sizes: Mapping[str, int]
    cut: bool = False
    """There were more of them in the groups searched."""


async def run(subject: Subject, reach: Reach) -> Seen:
    """Count the neighbours with problems that are not the incident's own."""
    names = asked_hosts(subject.incident, reach.correlation)
    asked = f"problems on the neighbours of {', '.join(names) or 'no host'}"
    watch = reach.host_watch()
    found = await _found(watch, names, set(every_host(subject.incident, reach.correlation)))
    if isinstance(found, Gap):
        return unanswered(found, asked=asked, name=NAME)
    problems = await watch.problems([host.id for host in found.hosts]) if found.hosts else []
    if isinstance(problems, Gap):
        return unanswered(problems, asked=asked, name=NAME)
    own = {host.id for host in found.own}
    others = [one for one in problems if not own & set(one.host_ids)]
    return _seen(asked, found, others, reach)


async def _found(watch: HostWatch, names: Sequence[str], own_names: set[str]) -> _Neighbours | Gap:
    """Search the smallest groups first until there are neighbours enough."""
    own = await watch.hosts(names) if names else []
    if isinstance(own, Gap):
        return own
    groups = {group.id: group for host in own for group in host.groups}
    sizes = await watch.sizes([*groups]) if groups else {}
    if isinstance(sizes, Gap):
        return sizes
    ranked = sorted(groups.values(), key=lambda g: (sizes.get(g.id, 0), g.name))
    searched = _searched(ranked, sizes)
    members = await watch.members([group.id for group in searched]) if searched else []
    if isinstance(members, Gap):
        return members
    ids, order = {host.id for host in own}, {group.id: n for n, group in enumerate(searched)}
    others = [h for h in members if h.id not in ids and h.name not in own_names]
    nearest = sorted(others, key=lambda h: (_rank(h, order), h.name))[:MOST_NEIGHBOURS]
    cut = len(others) > len(nearest)
    return _Neighbours(nearest, own, searched, ranked[len(searched) :], sizes, cut)


def _searched(ranked: Sequence[HostGroup], sizes: Mapping[str, int]) -> list[HostGroup]:
    """Take groups until their hosts fill the bound; the group that fills it is searched in part."""
    taken, room = [], MOST_NEIGHBOURS
    for group in ranked:
        if room <= 0:
            break
        taken.append(group)
        room -= sizes.get(group.id, 0)
    return taken


def _rank(host: WatchedHost, order: Mapping[str, int]) -> int:
    return min((order[g.id] for g in host.groups if g.id in order), default=len(order))


def _seen(asked: str, found: _Neighbours, problems: Sequence[Problem], reach: Reach) -> Seen:
    now, ids = reach.clock.now(), {host.id for host in found.hosts}
    burning = {id_ for problem in problems for id_ in problem.host_ids} & ids
    lines = [_count(found, len(burning)), *_named(found, problems), *_where(found)]
    lines[0] += f" at {now:%H:%M:%S}Z"
    return Seen(
        asked=asked,
        outcome=QueryOutcome.FETCHED if found.hosts else QueryOutcome.EMPTY,
        text="\n".join(lines),
        scope={"group": "|".join(group.name for group in found.searched)},
        scoped=bool(found.searched),
        evaluated_at=now,
        figures={"burning": len(burning), "neighbours": len(found.hosts)},
    )


def _count(found: _Neighbours, burning: int) -> str:
    if not found.hosts:
        return f"{NAME}: there is none to compare with"
    quiet = "quiet" if not burning else "with problems of their own"
    return f"{NAME}: {burning} of {len(found.hosts)} hosts with problems ({quiet})"


def _named(found: _Neighbours, problems: Sequence[Problem]) -> Iterator[str]:
    names = {host.id: host.name for host in found.hosts}
    for one in problems[:MOST_NAMED]:
        where = ", ".join(plain(names[id_], 80) for id_ in one.host_ids if id_ in names)
        yield f"- {where}: {plain(one.name)} ({one.severity}, since {one.since:%H:%M:%S}Z)"
    if len(problems) > MOST_NAMED:
        yield f"- {len(problems) - MOST_NAMED} more"


def _where(found: _Neighbours) -> Iterator[str]:
    partly = ", the largest in part" if found.cut else ""
    yield f"groups searched: {_listed(found.searched, found.sizes)}{partly}"
    yield f"groups left out: {_listed(found.left_out, found.sizes)}"


def _listed(groups: Sequence[HostGroup], sizes: Mapping[str, int]) -> str:
    told = [f"{plain(g.name, 80)} ({sizes.get(g.id, 0)} hosts)" for g in groups[:_TOLD_GROUPS]]
    more = len(groups) - len(told)
    return ", ".join([*told, *([f"{more} more"] if more else [])]) or "none"


CHECK = CheckKind(
    name="host_neighbours",
    run=run,
    floor=lambda _subject, reach: reach.hosts is not None,
    backend=HOSTS,
)
