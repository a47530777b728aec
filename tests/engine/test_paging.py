"""Who is paged: by routes and one flag, in the transaction of the incident, whatever AI does."""

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import text

from engine.desk.desk import Desk
from engine.intake import Rules
from engine.model.action import Action
from engine.model.alert import Severity
from engine.model.desk import FieldName, Press
from engine.model.incident import Incident
from engine.model.org import DRILL_CLIENT, Client, Flags, Platform
from engine.model.page import (
    EscalationRoute,
    Mentioned,
    NoPage,
    NotPaged,
    Paged,
    PageRecord,
    PageTrigger,
)
from engine.model.policy import IncidentRule
from engine.paging import Escalation, decide
from tests.engine.conftest import World, alert
from tests.engine.desk.test_desk import ALICE
from tests.engine.judged import incident
from tests.engine.test_independence import reached, told
from tests.engine.test_intake import CHECKOUT

GROUP = Mentioned(platform=Platform.SLACK, account="S0ONCALL")
EVERYTHING = EscalationRoute(name="on-call", pagers=("pd",), mentions=(GROUP,))
PAYMENTS = EscalationRoute(name="payments", match={"team": "payments"}, pagers=("pd", "hook"))
LOUD = EscalationRoute(name="loud", least=Severity.CRITICAL, pagers=("siren",))


def an_incident(severity: str = "critical", client: str = "default", **labels: str) -> Incident:
    case = incident()
    lead = case.lead
    named = {**lead.alert.labels, **labels}
    alert = lead.alert.model_copy(update={"labels": named, "severity": Severity(severity)})
    member = lead.model_copy(update={"alert": alert})
    update = {"members": (member,), "severity": Severity(severity), "client_id": client}
    return case.model_copy(update=update)


def decided(case: Incident, *routes: EscalationRoute, oncall: bool = True) -> str:
    """The route's name, or the reason."""
    made = decide(case, oncall_enabled=oncall, routes=routes, trigger=PageTrigger.OPENED)
    return made.route.name if isinstance(made, Paged) else made.reason.value


DECISIONS: tuple[tuple[str, Mapping[str, Any], tuple[EscalationRoute, ...], bool, str], ...] = (
    ("a route fits", {}, (EVERYTHING,), True, "on-call"),
    ("a high one is grave enough", {"severity": "high"}, (EVERYTHING,), True, "on-call"),
    ("paging is off", {}, (EVERYTHING,), False, "oncall_disabled"),
    ("there is no route", {}, (), True, "no_route"),
    ("no route fits", {"team": "search"}, (PAYMENTS,), True, "no_route"),
    ("too slight", {"severity": "warning"}, (EVERYTHING,), True, "severity"),
    ("the first that fits", {"team": "payments"}, (PAYMENTS, EVERYTHING), True, "payments"),
    ("the next one fits", {"team": "search"}, (PAYMENTS, EVERYTHING), True, "on-call"),
    ("the first is for graver", {"severity": "high"}, (LOUD, EVERYTHING), True, "on-call"),
    ("the first is for such", {}, (LOUD, EVERYTHING), True, "loud"),
    ("a rehearsal", {"client": DRILL_CLIENT}, (EVERYTHING,), True, "drill"),
)


@pytest.mark.proves("S3-36")
@pytest.mark.parametrize(
    ("case", "routes", "oncall", "expected"),
    [row[1:] for row in DECISIONS],
    ids=[row[0] for row in DECISIONS],
)
def test_a_page_is_decided_by_routes_severity_and_one_flag(
    case: Mapping[str, Any], routes: tuple[EscalationRoute, ...], oncall: bool, expected: str
) -> None:
    assert decided(an_incident(**case), *routes, oncall=oncall) == expected


AI_FLAGS = st.fixed_dictionaries(
    {name: st.booleans() for name in ("ai_triage", "ai_triage_manual", "remediation")}
)


@pytest.mark.proves("S3-19", "S3-21", "S3-22", "S3-29")
@settings(max_examples=40, deadline=None)
@given(
    ai=AI_FLAGS,
    oncall=st.booleans(),
    severity=st.sampled_from([*Severity]),
    team=st.sampled_from(["payments", "search"]),
)
def test_no_flag_of_investigating_moves_a_page(
    ai: dict[str, bool], oncall: bool, severity: Severity, team: str
) -> None:
    case = an_incident(severity.value, team=team)
    flags, plain = Flags(**ai, oncall_enabled=oncall), Flags(oncall_enabled=oncall)
    made = [
        decided(case, PAYMENTS, LOUD, oncall=Escalation(one.oncall_enabled).oncall_enabled)
        for one in (flags, plain)
    ]
    assert made[0] == made[1]
    assert (made[0] == "oncall_disabled") == (not oncall)
    assert not [reason for reason in NoPage if "ai" in reason or "triage" in reason]


@pytest.mark.proves("S3-21", "S3-35", "S3-36")
def test_paging_and_investigating_cannot_reach_each_other() -> None:
    """By structure: neither imports the other, however far the way."""
    investigating = ("engine/gate", "engine/triage", "engine/stages/", "engine/investigation/",
                     "engine/verification/", "bot/backends/", "bot/worker")  # fmt: skip
    sending = ("bot/paging/sender.py", "bot/paging/pagerduty.py", "bot/paging/webhook.py")
    deciding = {told(path) for path in reached("engine/paging.py", "engine/model/page.py")}
    assert deciding <= {path for path in deciding if path.startswith("engine/model/")} | {
        "engine/paging.py"
    }
    assert not [path for path in deciding if path.startswith(investigating)]
    pagers = {told(path) for path in reached(*sending[1:])}
    assert not [path for path in pagers if path.startswith(investigating)]
    chain = {told(path) for path in reached("engine/stages/investigate.py", "engine/triage.py")}
    assert not chain & {"engine/paging.py", "engine/model/page.py", "storage/pages.py", *sending}


async def paged(world: World, number: int = 1) -> list[tuple[str, str]]:
    """What pagers of an incident are told, in its order."""
    incident_id = (await world.incident(number)).id
    asked = text("select pager, action from pages where incident_id = :id order by id")
    async with world.store.begin() as tx:
        rows = await tx.session.execute(asked, {"id": incident_id})
        return [(row.pager, row.action) for row in rows]


async def record(world: World, number: int = 1) -> PageRecord | None:
    incident_id = (await world.incident(number)).id
    async with world.store.begin() as tx:
        return await tx.pages.record(incident_id)


def with_routes(world: World, *routes: EscalationRoute, **flags: bool) -> World:
    world.rules = Rules(routes=routes)
    world.client = Client(id="default", flags=Flags(**flags))
    return world


@pytest.mark.proves("S3-19", "S3-29")
@pytest.mark.parametrize("ai", [False, True])
@pytest.mark.parametrize("manual", [False, True])
async def test_a_page_is_a_row_of_the_transaction_that_opens_the_incident(
    world: World, ai: bool, manual: bool
) -> None:
    with_routes(world, EVERYTHING, ai_triage=ai, ai_triage_manual=manual)
    filed = await world.deliver(alert(), now_s=0)
    assert filed.pages == (Paged(route=EVERYTHING, trigger=PageTrigger.OPENED),)
    assert await paged(world) == [("pd", "trigger")]
    kept = await record(world)
    assert kept is not None
    assert (kept.route, kept.mentions, kept.pagers) == ("on-call", (GROUP,), ("pd",))


async def test_more_of_the_same_pages_nobody_again(world: World) -> None:
    with_routes(world, EVERYTHING)
    await world.deliver(alert(**CHECKOUT), now_s=0)
    joined = await world.deliver(alert("HighLatency", since_s=9, **CHECKOUT), now_s=10)
    assert (joined.joined, joined.pages) == (1, ())
    assert await paged(world) == [("pd", "trigger")]


async def test_an_incident_that_becomes_graver_is_decided_again(world: World) -> None:
    with_routes(world, EVERYTHING)
    first = await world.deliver(alert(severity=Severity.WARNING, **CHECKOUT), now_s=0)
    assert first.pages == (NotPaged(reason=NoPage.SEVERITY),)
    second = await world.deliver(alert(since_s=90, **CHECKOUT), now_s=90)
    assert second.pages == (Paged(route=EVERYTHING, trigger=PageTrigger.SEVERITY),)
    assert len(await world.incidents()) == 1
    assert await paged(world) == [("pd", "trigger")]


async def test_take_acknowledges_and_a_resolve_resolves_at_the_pager(world: World) -> None:
    with_routes(world, PAYMENTS)
    await world.deliver(alert(team="payments"), now_s=0)
    incident_id = (await world.incident(1)).id
    taking = Press(client_id="default", incident_id=incident_id, action=Action.TAKE)
    await Desk(world.store, world.new_id).press(taking, ALICE)
    await world.deliver(alert(until_s=60, team="payments"), now_s=60)
    assert await paged(world) == [
        ("pd", "trigger"), ("hook", "trigger"),
        ("hook", "acknowledge"), ("pd", "acknowledge"),
        ("hook", "resolve"), ("pd", "resolve"),
    ]  # fmt: skip


async def test_what_fires_again_is_paged_again_and_resolved_again(world: World) -> None:
    with_routes(world, EVERYTHING)
    await world.deliver(alert(), now_s=0)
    await world.deliver(alert(until_s=60), now_s=60)
    again = await world.deliver(alert(since_s=120), now_s=120)
    assert again.pages == (Paged(route=EVERYTHING, trigger=PageTrigger.REOPENED),)
    await world.deliver(alert(since_s=120, until_s=180), now_s=180)
    actions = [action for _, action in await paged(world)]
    assert actions[:3] == ["trigger", "resolve", "trigger"]


async def test_closing_for_lack_of_news_resolves_at_the_pager(world: World) -> None:
    with_routes(world, EVERYTHING)
    await world.deliver(alert(), now_s=0)
    await world.sweep(IncidentRule().stale_ttl_s + 60)
    assert await paged(world) == [("pd", "trigger"), ("pd", "resolve")]


async def test_nobody_paged_is_remembered_only_where_paging_is_set_up(world: World) -> None:
    with_routes(world)
    filed = await world.deliver(alert(service="a"), now_s=0)
    assert filed.pages == (NotPaged(reason=NoPage.NO_ROUTE),)
    assert await record(world) is None
    with_routes(world, PAYMENTS)
    await world.deliver(alert("Other", service="b"), now_s=4000)
    spared = await record(world, 2)
    assert spared is not None
    assert spared.reason is NoPage.NO_ROUTE


async def test_the_page_of_what_was_merged_ends_with_what_took_it_over(world: World) -> None:
    with_routes(world, EVERYTHING)
    for number, service in enumerate(("a", "b")):
        await world.deliver(alert(service=service, since_s=number * 4000), now_s=number * 4000)
    merged, other = await world.incidents()
    same = Press(client_id="default", incident_id=merged.id, action=Action.SAME_AS)
    at_work = Desk(world.store, world.new_id)
    await at_work.hand_in(same, ALICE, {FieldName.INCIDENT: str(other.number)})
    assert await paged(world, merged.number) == [("pd", "trigger")]
    async with world.store.begin() as tx:
        await tx.pages.resolve([other.id])
    assert [await paged(world, one.number) for one in (merged, other)] == [
        [("pd", "trigger"), ("pd", "resolve")],
        [("pd", "trigger"), ("pd", "resolve")],
    ]
