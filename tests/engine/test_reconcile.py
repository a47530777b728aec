"""A complete poll against what is held."""

import pytest

from engine.model.alert import AlertStatus
from engine.reconcile import grace_s, reconciled
from tests.engine.conftest import World, alert, at

GONE, HERE = alert("Gone", service="a"), alert("Here", service="b")


@pytest.mark.parametrize(
    ("complete", "reachable_s", "resolved"),
    [(True, 30, ["Gone"]), (False, 30, []), (True, 29, [])],
)
def test_only_a_complete_poll_of_a_source_that_kept_answering_resolves(
    complete: bool, reachable_s: float, resolved: list[str]
) -> None:
    said = reconciled(
        [HERE], [GONE, HERE], at(99), complete=complete, reachable_s=reachable_s, grace_s=30
    )
    assert [a.rule for a in said if a.status is AlertStatus.RESOLVED] == resolved
    assert [a.rule for a in said if a.status is AlertStatus.FIRING] == ["Here"]
    assert all(a.ends_at == at(99) for a in said if a.status is AlertStatus.RESOLVED)


async def test_a_missed_resolve_is_told_by_two_polls_without_it(world: World) -> None:
    await world.deliver(GONE, HERE, now_s=0, polled=True)
    for now_s in (15, 30, 45):
        async with world.store.begin() as tx:
            unseen = await tx.events.unseen("default", "prom", at(now_s - 30))
        said = reconciled([HERE], unseen, at(now_s), complete=True, reachable_s=now_s, grace_s=30)
        await world.deliver(*said, now_s=now_s, polled=True)

    states = {i.lead.alert.rule: (i.state, i.resolved_at) for i in await world.incidents()}
    assert states == {"Gone": ("resolved", at(45)), "Here": ("open", None)}


@pytest.mark.parametrize(
    ("every_s", "up_s", "expected_s"),
    [
        (15, 299, 300),  # it just started: its senders have not all repeated themselves
        (15, None, 300),
        (15, 300, 30),
        (200, 5, 400),
        (200, 9_000, 400),
    ],
)
def test_a_source_that_just_started_is_believed_later(
    every_s: float, up_s: float | None, expected_s: float
) -> None:
    assert grace_s(every_s, up_s) == expected_s
