"""What a press comes to: who may, what changes, and what the next press is told."""

import asyncio
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from sqlalchemy import text

from engine.desk.acts.quiet import morning
from engine.desk.desk import Desk
from engine.desk.table import ACTS
from engine.model.action import Action
from engine.model.desk import (
    Actor,
    Answer,
    AnswerKind,
    Asks,
    FieldName,
    Membership,
    Press,
)
from engine.model.finding import CauseKey, Finding
from engine.model.incident import IncidentState
from engine.model.memory import StubState
from engine.model.org import Identity, Person, Platform, Role
from engine.model.pack import CauseClass
from engine.model.review import Verdict
from engine.model.run import RunState
from tests.engine.conftest import World, alert
from tests.engine.judged import a_run
from tests.engine.test_stamps import finding


def actor(name: str = "alice", *roles: Role, **changes: Any) -> Actor:
    identity = Identity(platform=Platform.SLACK, account=f"U{name.upper()}")
    person = Person(id=name, name=name, identities=(identity,), roles={"default": roles})
    usual = {"membership": Membership.FULL, "person": person if roles else None}
    return Actor(identity=identity, name=name, **{**usual, **changes})


ALICE, BOB = actor("alice"), actor("bob")
LIBRARIAN = actor("lena", Role.RESOLUTIONS_APPROVE)


def press(action: Action, incident_id: str, **changes: Any) -> Press:
    return Press(client_id="default", incident_id=incident_id, action=action, **changes)


async def opened(world: World, **labels: str) -> str:
    await world.deliver(alert(service="checkout", **labels), now_s=0)
    return (await world.incident(1)).id


async def with_finding(world: World, incident_id: str, **changes: Any) -> Finding:
    made = finding(**{"client_id": "default", "incident_id": incident_id, **changes})
    async with world.store.begin() as tx:
        await tx.findings.keep(made)
    return made


def desk(world: World) -> Desk:
    return Desk(world.store, world.new_id)


async def told(world: World, action: Action, incident_id: str, by: Actor = ALICE) -> Answer:
    said = await desk(world).press(press(action, incident_id), by)
    assert isinstance(said, Answer)
    return said


async def test_the_first_to_take_an_incident_has_it_and_the_next_is_told_who(
    world: World,
) -> None:
    incident_id = await opened(world)
    assert (await told(world, Action.TAKE, incident_id)).kind is AnswerKind.DONE
    second = await told(world, Action.TAKE, incident_id, BOB)
    assert (second.kind, second.by) == (AnswerKind.ALREADY, "alice")
    async with world.store.begin() as tx:
        case = await tx.case(incident_id)
    assert case is not None
    assert (case.taken_by, case.taken_account) == ("alice", "slack:UALICE")
    assert await world.count("audit", "action = 'take' and actor = 'alice (slack:UALICE)'") == 1


async def test_of_two_presses_in_the_same_second_one_wins_every_time(world: World) -> None:
    incident_id = await opened(world)
    for _ in range(100):
        async with world.store.begin() as tx:
            await tx.session.execute(text("update incidents set taken_by = null"))
        answers = await asyncio.gather(
            *(told(world, Action.TAKE, incident_id, who) for who in (ALICE, BOB))
        )
        assert sorted(a.kind for a in answers) == [AnswerKind.ALREADY, AnswerKind.DONE]


@pytest.mark.parametrize(
    ("who", "action", "kind"),
    [
        (actor(membership=Membership.GUEST), Action.TAKE, AnswerKind.GUEST),
        (actor(membership=Membership.BOT), Action.RIGHT_CAUSE, AnswerKind.GUEST),
        (actor(membership=Membership.OUTSIDE), Action.WHY, AnswerKind.GUEST),
        (actor(membership=Membership.GUEST), Action.WHY, AnswerKind.SHOWN),
        (ALICE, Action.SAVE_TO_MEMORY, AnswerKind.LACKS_ROLE),
        (actor("eve", Role.ADMIN), Action.SAVE_TO_MEMORY, AnswerKind.LACKS_ROLE),
        (
            actor(person=Person(id="x", name="x", active=False)),
            Action.TAKE,
            AnswerKind.DEACTIVATED,
        ),
    ],
)
async def test_who_may_not_is_told_so_and_nothing_changes(
    world: World, who: Actor, action: Action, kind: AnswerKind
) -> None:
    incident_id = await opened(world)
    await with_finding(world, incident_id)
    before = await world.count("audit")
    assert (await told(world, action, incident_id, who)).kind is kind
    assert await world.count("audit") == before


async def test_who_lacks_a_role_is_told_whom_to_ask(world: World) -> None:
    incident_id = await opened(world)
    async with world.store.begin() as tx:
        lena = await tx.people.add("lena", by="cli")
        await tx.people.grant(lena, "default", Role.RESOLUTIONS_APPROVE, by="cli")
    said = await told(world, Action.SAVE_TO_MEMORY, incident_id)
    assert (said.role, said.ask) == (Role.RESOLUTIONS_APPROVE, ("lena",))


async def test_an_incident_of_another_client_is_not_there(world: World) -> None:
    incident_id = await opened(world)
    foreign = press(Action.TAKE, incident_id).model_copy(update={"client_id": "other"})
    said = await desk(world).press(foreign, ALICE)
    assert isinstance(said, Answer)
    assert said.kind is AnswerKind.NOT_THERE
    assert await world.count("incidents", "taken_by is not null") == 0


async def test_a_verdict_is_given_once_and_signed(world: World) -> None:
    incident_id = await opened(world)
    assert (await told(world, Action.RIGHT_CAUSE, incident_id)).kind is AnswerKind.NO_FINDING
    found = await with_finding(world, incident_id)
    assert (await told(world, Action.RIGHT_CAUSE, incident_id)).kind is AnswerKind.DONE
    again = await told(world, Action.RIGHT_CAUSE, incident_id, BOB)
    assert (again.kind, again.by) == (AnswerKind.ALREADY, "alice (slack:UALICE)")
    async with world.store.begin() as tx:
        said = await tx.outcomes.standing(found.triage_id)
    assert said is not None
    assert (said.verdict, said.name) == (Verdict.RIGHT, "alice")


async def test_a_press_on_a_finding_that_was_replaced_changes_nothing(world: World) -> None:
    incident_id = await opened(world)
    await with_finding(world, incident_id)
    stale = press(Action.RIGHT_CAUSE, incident_id, subject_id="an-earlier-run")
    said = await desk(world).press(stale, ALICE)
    assert isinstance(said, Answer)
    assert said.kind is AnswerKind.CHANGED
    assert await world.count("verdicts") == 0


async def test_a_wrong_cause_is_asked_what_it_was_and_keeps_the_answer(world: World) -> None:
    incident_id = await opened(world)
    await with_finding(world, incident_id)
    asked = await desk(world).press(press(Action.WRONG_CAUSE, incident_id), ALICE)
    assert isinstance(asked, Asks)
    assert asked.fields[-1].name is FieldName.OTHER_CAUSE
    values = {FieldName.OTHER_CAUSE: "  a batch job\nheld every connection "}
    said = await desk(world).hand_in(press(Action.WRONG_CAUSE, incident_id), ALICE, values)
    assert said.kind is AnswerKind.DONE
    async with world.store.begin() as tx:
        case = await tx.case(incident_id)
    assert case is not None
    assert case.said is not None
    assert case.said.cause == "a batch job held every connection"


async def test_investigating_by_hand_needs_the_flag_and_runs_once(world: World) -> None:
    incident_id = await opened(world)
    assert (await told(world, Action.INVESTIGATE, incident_id)).kind is AnswerKind.OFF
    async with world.store.begin() as tx:
        await tx.org.set_flag("default", "ai_triage", value=True)
        await tx.session.execute(text("delete from jobs"))
    assert (await told(world, Action.INVESTIGATE, incident_id)).kind is AnswerKind.DONE
    assert await world.jobs("triage") == [incident_id]
    run = a_run(incident_id=incident_id, client_id="default", state=RunState.INVESTIGATING)
    async with world.store.begin() as tx:
        await tx.runs.add(run)
    assert (await told(world, Action.RETRIAGE, incident_id)).kind is AnswerKind.ALREADY


async def test_a_run_is_stopped_once_and_only_while_it_runs(world: World) -> None:
    incident_id = await opened(world)
    assert (await told(world, Action.STOP, incident_id)).kind is AnswerKind.NOTHING_RUNS
    async with world.store.begin() as tx:
        await tx.runs.add(a_run(incident_id=incident_id, client_id="default"))
    assert (await told(world, Action.STOP, incident_id)).kind is AnswerKind.DONE
    second = await told(world, Action.STOP, incident_id, BOB)
    assert (second.kind, second.by) == (AnswerKind.ALREADY, "alice")


async def test_a_mute_holds_for_the_family_and_the_later_end_wins(world: World) -> None:
    incident_id = await opened(world)
    first = await told(world, Action.MUTE, incident_id)
    assert first.until is not None
    await told(world, Action.SNOOZE, incident_id, BOB)
    await told(world, Action.MUTE, incident_id)
    async with world.store.begin() as tx:
        case = await tx.case(incident_id)
    assert case is not None
    assert case.muted_until is not None
    assert case.muted_until >= first.until


@pytest.mark.parametrize(
    ("now", "zone", "wakes"),
    [
        ("2026-11-30T02:00", "UTC", "2026-11-30T08:00"),
        ("2026-11-30T09:00", "UTC", "2026-12-01T08:00"),
        ("2026-11-30T02:00", "Europe/Berlin", "2026-11-30T07:00"),
        ("2026-10-24T23:00", "Europe/Berlin", "2026-10-25T07:00"),
    ],
)
def test_morning_is_the_morning_of_whoever_presses(now: str, zone: str, wakes: str) -> None:
    at = datetime.fromisoformat(now).replace(tzinfo=UTC)
    assert morning(at, ZoneInfo(zone)) == datetime.fromisoformat(wakes).replace(tzinfo=UTC)


async def test_what_was_closed_for_lack_of_news_can_be_kept_open(world: World) -> None:
    incident_id = await opened(world)
    assert (await told(world, Action.KEEP_OPEN, incident_id)).kind is AnswerKind.STILL_OPEN
    await world.sweep(7 * 3600)
    assert (await world.incident(1)).state is IncidentState.CLOSED
    assert (await told(world, Action.KEEP_OPEN, incident_id)).kind is AnswerKind.DONE
    assert (await world.incident(1)).state is IncidentState.OPEN
    assert (await told(world, Action.TAKE, incident_id)).kind is AnswerKind.DONE


async def test_only_what_a_person_read_is_remembered_and_once(world: World) -> None:
    incident_id = await opened(world)
    save = press(Action.SAVE_TO_MEMORY, incident_id)
    assert (await told(world, save.action, incident_id, LIBRARIAN)).kind is AnswerKind.STILL_OPEN
    key = CauseKey(component="checkout-db", cause_class=CauseClass.RESOURCE_EXHAUSTION)
    await with_finding(world, incident_id, root_cause_key=key)
    await world.deliver(alert(service="checkout", until_s=60), now_s=61)
    await world.sweep(3600)
    draft = await desk(world).press(save, LIBRARIAN)
    assert isinstance(draft, Asks)
    first = {field.name: field.initial for field in draft.fields}
    assert "HighErrorRate" in first[FieldName.SYMPTOM]
    missing = await desk(world).hand_in(save, LIBRARIAN, first)
    assert missing.kind is AnswerKind.INCOMPLETE
    done = await desk(world).hand_in(save, LIBRARIAN, {**first, FieldName.FIX: "raised the pool"})
    assert done.kind is AnswerKind.DONE
    again = await desk(world).hand_in(save, LIBRARIAN, {**first, FieldName.FIX: "another"})
    assert (again.kind, again.by) == (AnswerKind.ALREADY, "lena")
    async with world.store.begin() as tx:
        rows = await tx.session.execute(text("select state, body from resolution_stubs"))
        [stub] = rows.all()
    assert stub.state == StubState.APPROVED
    assert (stub.body["fix"], stub.body["confirmed_by"]) == ("raised the pool", "lena")


async def two(world: World) -> tuple[str, str]:
    await world.deliver(alert("CheckoutErrors", service="checkout", namespace="a"), now_s=0)
    await world.deliver(alert("DiskFull", host="db-1", namespace="b"), now_s=1)
    first, second = await world.incidents()
    return first.id, second.id


async def merge(world: World) -> tuple[str, str]:
    first, second = await two(world)
    asked = await desk(world).press(press(Action.SAME_AS, second), ALICE)
    assert isinstance(asked, Asks)
    assert [choice.value for choice in asked.fields[0].choices] == ["1"]
    said = await desk(world).hand_in(
        press(Action.SAME_AS, second), ALICE, {FieldName.INCIDENT: "1"}
    )
    assert (said.kind, said.number) == (AnswerKind.DONE, 1)
    return first, second


async def test_two_incidents_become_one_by_hand(world: World) -> None:
    await merge(world)
    first, second = await world.incidents()
    assert (second.state, second.merged_into) == (IncidentState.MERGED, first.id)
    assert {group.rule for group in first.groups} == {"CheckoutErrors", "DiskFull"}


async def test_a_merge_by_hand_can_be_undone_from_either_side(world: World) -> None:
    _, second_id = await merge(world)
    assert (await told(world, Action.NOT_RELATED, second_id)).kind is AnswerKind.DONE
    first, second = await world.incidents()
    assert [group.rule for group in first.groups] == ["CheckoutErrors"]
    assert [group.rule for group in second.groups] == ["DiskFull"]
    assert (first.state, second.state) == (IncidentState.OPEN, IncidentState.OPEN)


async def test_a_group_that_does_not_belong_gets_its_own_incident(world: World) -> None:
    first_id, _ = await merge(world)
    apart = press(Action.NOT_RELATED, first_id)
    asked = await desk(world).press(apart, ALICE)
    assert isinstance(asked, Asks)
    [choice] = asked.fields[0].choices
    said = await desk(world).hand_in(apart, ALICE, {FieldName.GROUP: choice.value})
    assert (said.kind, said.number) == (AnswerKind.DONE, 3)
    held = {i.number: [g.rule for g in i.groups] for i in await world.incidents()}
    taken = choice.label.partition(" · ")[0]
    assert held[3] == [taken]
    assert taken not in held[1]
    gone = await desk(world).hand_in(apart, ALICE, {FieldName.GROUP: choice.value})
    assert gone.kind is AnswerKind.NOT_THERE


async def test_there_must_be_something_to_merge_with_or_to_take_apart(world: World) -> None:
    incident_id = await opened(world)
    for action in (Action.SAME_AS, Action.NOT_RELATED):
        assert (await told(world, action, incident_id)).kind is AnswerKind.NOTHING_ELSE


def test_every_act_stands_under_its_own_name() -> None:
    assert all(act.action is action for action, act in ACTS.items())
