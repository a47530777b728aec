"""Events of a few series in any order, twice or never: the state is always the newest event's."""

import asyncio
import itertools

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from sqlalchemy import text

from engine.model.incident import IncidentState, MemberState
from tests.engine.conftest import World, alert

SERIES = {
    "one": {"namespace": "a", "service": "one"},
    "two": {"namespace": "a", "service": "one", "pod": "one-7d9f8b6c5d-abcde"},
    "far": {"namespace": "b", "service": "far"},
}
EVENT = st.tuples(st.sampled_from(sorted(SERIES)), st.sampled_from([0, 600, 2400]), st.booleans())
DELIVERIES = st.lists(st.lists(EVENT, min_size=1, max_size=3), min_size=1, max_size=8)
Event = tuple[str, int, bool]

_rounds = itertools.count(1)


class Model:
    """What must hold, without incidents: each series' events, a resolve final for its start."""

    def __init__(self) -> None:
        self.ended: dict[tuple[str, int], bool] = {}
        self.fired: set[str] = set()

    def take(self, event: Event) -> None:
        name, start, ends = event
        self.ended[name, start] = self.ended.get((name, start), False) or ends
        if not ends:
            self.fired.add(name)

    def firing(self) -> set[str]:
        newest = {name: max(s for n, s in self.ended if n == name) for name, _ in self.ended}
        return {name for name, start in newest.items() if not self.ended[name, start]}


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@example(deliveries=[[("far", 0, False), ("far", 0, True)]])
@given(deliveries=DELIVERIES)
async def test_any_order_ends_in_the_newest_state(
    world: World, deliveries: list[list[Event]]
) -> None:
    """Each example has its own round of labels, so that one database serves all."""
    mark, model = f"r{next(_rounds)}", Model()
    for n, events in enumerate(deliveries):
        for event in events:
            model.take(event)
        await world.deliver(
            *(
                alert(
                    since_s=start, until_s=start + 60 if ends else None, cluster=mark, **SERIES[s]
                )
                for s, start, ends in events
            ),
            now_s=3000 + n,
        )

    held = [i for i in await world.incidents() if i.lead.alert.labels["cluster"] == mark]
    members = [(m, i) for i in held for m in i.members if i.state is not IncidentState.MERGED]
    by_labels = {tuple(sorted(labels.items())): name for name, labels in SERIES.items()}

    def name_of(labels: dict[str, str]) -> str:
        own = {k: v for k, v in labels.items() if k in {"namespace", "service", "pod"}}
        return by_labels[tuple(sorted(own.items()))]

    firing = [name_of(dict(m.alert.labels)) for m, _ in members if m.state is MemberState.FIRING]
    assert sorted(firing) == sorted(model.firing())
    assert {name_of(dict(m.alert.labels)) for m, _ in members} >= model.fired
    for one in held:
        assert (one.state is IncidentState.OPEN) == bool(one.firing) or one.flapping
    where = f"labels->>'cluster' = '{mark}'"
    assert await world.count("alert_events", where) == len(model.ended)
    await _forget(world)


async def _forget(world: World) -> None:
    async with world.store.begin() as tx:
        await tx.session.execute(
            text(
                "truncate incidents, incident_members, alert_events, alert_groups, transitions, "
                "cards, jobs, fact_sheets cascade"
            )
        )


@settings(
    max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(events=st.lists(EVENT, min_size=2, max_size=6))
async def test_deliveries_at_once_end_in_the_newest_state(
    world: World, events: list[Event]
) -> None:
    model = Model()
    for event in events:
        model.take(event)
    await asyncio.gather(
        *(
            world.deliver(
                alert(since_s=start, until_s=start + 60 if ends else None, **SERIES[name]),
                now_s=3000,
            )
            for name, start, ends in events * 2
        )
    )

    firing = [m for i in await world.incidents() for m in i.firing]
    assert len(firing) == len(model.firing())
    assert await world.count("alert_events") == len(model.ended)
    await _forget(world)
