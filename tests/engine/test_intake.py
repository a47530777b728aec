"""Deliveries of alerts on a real database: what opens, joins, attaches, resolves, stays silent."""

import asyncio
from dataclasses import replace

import pytest
from sqlalchemy import text

from engine.identity import family
from engine.intake import Rules, clean
from engine.model.alert import AlertClass, AlertStatus, Severity
from engine.model.incident import AttachTrigger, IncidentState, JoinReason, MemberState
from engine.model.policy import CorrelationRule
from tests.engine.conftest import World, alert, at

CHECKOUT = {"cluster": "prod", "namespace": "checkout", "service": "api"}


@pytest.mark.proves("S3-106")
async def test_ten_alerts_of_one_cause_in_twenty_seconds_are_one_incident(world: World) -> None:
    rules = ["HighErrorRate", "HighLatency", "PodCrashLooping", "QueueGrows", "Saturated"]
    for second in range(0, 20, 2):
        rule, pod = rules[second % 5], f"api-7d9f8b6c5d-{second:05d}"
        await world.deliver(alert(rule, since_s=second, pod=pod, **CHECKOUT), now_s=second)

    [incident] = await world.incidents()
    assert len(incident.members) == 10
    assert incident.lead.alert.rule == "HighErrorRate"
    assert {m.reason for m in incident.members} <= {
        JoinReason.OPENED,
        JoinReason.SHARED_SCOPE,
        JoinReason.SAME_FAMILY,
    }
    assert await world.jobs("triage") == [incident.id]
    assert await world.count("cards") == 1


async def test_an_incident_comes_with_its_jobs_and_its_card(world: World) -> None:
    filed = await world.deliver(alert(**CHECKOUT), now_s=1)

    [incident] = await world.incidents()
    assert filed.opened == (incident.id,)
    assert filed.accepted == {AlertStatus.FIRING: 1}
    assert (incident.number, incident.settle_at, incident.window_until) == (1, at(31), at(301))
    assert await world.jobs("facts") == await world.jobs("triage") == [incident.id]
    assert await world.wished() == {incident.id: "opened"}


async def test_a_second_workload_of_the_namespace_gets_its_own_card(world: World) -> None:
    one = alert("KubePodCrashLooping", namespace="shop", deployment="cart", cluster="prod")
    other = alert(
        "KubePodCrashLooping", since_s=600, namespace="shop", deployment="search", cluster="prod"
    )
    await world.deliver(one, now_s=0)
    await world.deliver(other, now_s=600)

    assert len(await world.incidents(IncidentState.OPEN)) == 2
    assert await world.count("cards") == 2


async def test_a_second_workload_is_not_swallowed_inside_the_window_either(world: World) -> None:
    for deployment in ("cart", "search"):
        await world.deliver(
            alert("KubePodCrashLooping", namespace="shop", deployment=deployment), now_s=5
        )

    assert len(await world.incidents()) == 2


async def test_kube_prometheus_shows_what_hurts_and_keeps_the_rest_silent(world: World) -> None:
    watchdog = alert("Watchdog", severity=Severity.INFO)
    quota = alert("KubeQuotaAlmostFull", severity=Severity.INFO, namespace="shop")
    cart = alert("KubePodNotReady", namespace="shop", pod="cart-6f7c9d8b5-x2x4z")
    filed = await world.deliver(watchdog, quota, cart, now_s=0)
    await world.deliver(
        alert("KubePodNotReady", since_s=600, namespace="shop", pod="search-5c8d7f6b9-k8s2p"),
        now_s=600,
    )

    shown = [i.lead.alert.labels["pod"].split("-")[0] for i in await world.incidents()]
    assert shown == ["cart", "search"]
    assert (filed.heartbeats, filed.silent) == (1, 1)
    assert await world.count("alert_events") == 4
    assert await world.count("cards") == 2


async def test_a_node_that_takes_forty_alerts_down_ends_as_one_incident(world: World) -> None:
    kinds = ["KubePodNotReady", "HighErrorRate", "KubePodCrashLooping", "HighLatency"]
    for post in range(9):
        now_s = post * 100
        some = [
            alert(
                kinds[n],
                since_s=now_s - 20,
                namespace=f"team{(post + n) % 5}",
                pod=f"app{post}x{n}-7d9f8b6c5d-abcde",
                node="worker-3",
            )
            for n in range(4)
        ]
        await world.deliver(*some, now_s=now_s)
    before = await world.incidents(IncidentState.OPEN)
    last = [
        alert(
            "HighErrorRate",
            since_s=880,
            namespace=f"late{n}",
            pod=f"l{n}-7d9f8b6c5d-abcde",
            node="worker-3",
        )
        for n in range(3)
    ]
    down = alert("KubeNodeNotReady", since_s=890, node="worker-3")
    filed = await world.deliver(*last, down, now_s=900)

    [incident] = await world.incidents(IncidentState.OPEN)
    assert len(before) > 1
    assert len(incident.members) == 40
    assert incident.alert_class is AlertClass.CAUSE
    assert incident.lead.alert.rule == "KubeNodeNotReady"
    assert incident.lead.shared["host"] == "worker-3"
    merged = await world.incidents(IncidentState.MERGED)
    assert {i.merged_into for i in merged} == {incident.id}
    wished = await world.wished()
    assert {wished[i.id] for i in merged} == {"merged"}
    assert set(filed.merged) == {i.id for i in merged if i.id in filed.changed}
    assert incident.id in await world.jobs("triage")


async def test_what_a_late_cause_took_over_resolves_with_it(world: World) -> None:
    app = {"namespace": "a", "pod": "app-7d9f8b6c5d-abcde", "node": "n1"}
    await world.deliver(alert("HighErrorRate", **app), now_s=0)
    await world.deliver(alert("Slow", since_s=1, namespace="b", service="db"), now_s=1)
    await world.deliver(alert("KubeNodeNotReady", since_s=500, node="n1"), now_s=500)
    await world.deliver(alert("HighErrorRate", until_s=700, **app), now_s=700)
    filed = await world.deliver(
        alert("KubeNodeNotReady", since_s=500, until_s=710, node="n1"), now_s=710
    )

    states = {i.lead.alert.rule: i.state for i in await world.incidents()}
    assert states == {"KubeNodeNotReady": IncidentState.RESOLVED, "Slow": IncidentState.OPEN}
    assert len(filed.resolved) == 1


async def test_three_things_on_one_database_within_two_minutes_are_one_incident(
    world: World,
) -> None:
    for n, service in enumerate(("cart", "search", "login")):
        await world.deliver(
            alert("Slow", since_s=n * 30, namespace=service, service=service, database="orders"),
            now_s=n * 30,
        )

    [incident] = await world.incidents(IncidentState.OPEN)
    assert [m.alert.labels["service"] for m in incident.members] == ["cart", "search", "login"]
    assert incident.members[-1].reason is JoinReason.COMMON_DENOMINATOR
    assert incident.members[-1].shared == {"database": "orders"}


async def test_a_storm_is_one_incident(world: World) -> None:
    some = [alert("Down", namespace=f"n{i}", service=f"s{i}") for i in range(30)]
    await world.deliver(*some, now_s=0)

    [incident] = await world.incidents()
    assert len(incident.members) == 30
    assert incident.members[-1].reason is JoinReason.STORM


@pytest.mark.proves("S0-66")
async def test_re_fires_of_a_judged_family_are_counted_and_cost_no_judgement(world: World) -> None:
    await world.deliver(alert(**CHECKOUT), now_s=0)
    await world.judge(1, now_s=60)
    triggers = []
    for n in range(1, 8):
        start = n * 600
        await world.deliver(alert(since_s=start - 600, until_s=start - 60, **CHECKOUT), now_s=start)
        filed = await world.deliver(alert(since_s=start, **CHECKOUT), now_s=start + 1)
        triggers += list(filed.attached)

    [incident] = await world.incidents()
    assert triggers == [AttachTrigger.NONE] * 7
    assert await world.jobs("triage") == []
    assert (incident.occurrences, incident.since_judged) == (8, 7)
    assert incident.chronic


async def test_an_escalation_is_judged_again_but_not_within_ten_minutes(world: World) -> None:
    await world.deliver(alert(severity=Severity.WARNING, **CHECKOUT), now_s=0)
    await world.judge(1, now_s=60)
    filed = await world.deliver(alert(since_s=90, **CHECKOUT), now_s=90)

    [incident] = await world.incidents()
    assert incident.severity is Severity.CRITICAL
    assert await world.wished() == {incident.id: "severity"}
    assert filed.attached == {}
    assert await world.jobs("triage") == [incident.id]
    async with world.store.begin() as tx:
        wait = "select extract(epoch from run_at - clock_timestamp()) from jobs"
        delay_s = float((await tx.session.execute(text(wait))).scalar_one())
    assert 560 < delay_s <= 570


async def test_the_same_delivery_again_changes_nothing(world: World) -> None:
    await world.deliver(alert(**CHECKOUT), now_s=0)
    filed = await world.deliver(alert(**CHECKOUT), now_s=1)

    assert filed.duplicate == {AlertStatus.FIRING: 1}
    assert (filed.opened, filed.changed) == ((), ())
    assert await world.count("transitions") == 1


async def test_concurrent_deliveries_of_one_body_are_one_incident(world: World) -> None:
    body = [
        alert("HighErrorRate", namespace="shop", service="cart"),
        alert("HighLatency", namespace="shop", service="cart"),
    ]
    filed = await asyncio.gather(*(world.deliver(*body, now_s=1) for _ in range(20)))

    [incident] = await world.incidents()
    assert len(incident.members) == 2
    assert sum(len(f.opened) for f in filed) == 1
    assert await world.count("alert_events") == 2
    assert await world.count("transitions") == 2
    assert await world.count("cards") == 1
    assert sum(f.duplicate.get(AlertStatus.FIRING, 0) for f in filed) == 38


async def test_bodies_that_cross_never_deadlock(world: World) -> None:
    some = [alert("Down", namespace="n", service="s", shard=str(n)) for n in range(40)]
    bodies = [some[n:] + some[:n] for n in range(0, 40, 2)]
    await asyncio.gather(*(world.deliver(*body, now_s=1) for body in bodies))

    assert await world.count("alert_events") == 40
    assert await world.count("incident_members") == 40


async def test_a_resolve_finds_the_older_incident_too(world: World) -> None:
    old = {"namespace": "shop", "service": "cart"}
    await world.deliver(alert("Slow", **old), now_s=0)
    await world.deliver(alert("Slow", since_s=400, pod="cart-7d9f8b6c5d-abcde", **old), now_s=400)
    await world.deliver(alert("Slow", until_s=500, **old), now_s=500)

    states = {
        m.alert.labels.get("pod", ""): m.state for i in await world.incidents() for m in i.members
    }
    assert states == {"": MemberState.RESOLVED, "cart-7d9f8b6c5d-abcde": MemberState.FIRING}


async def test_a_resolve_turns_the_incident_green_exactly_once(world: World) -> None:
    await world.deliver(alert(**CHECKOUT), now_s=0)
    first = await world.deliver(alert(until_s=60, **CHECKOUT), now_s=61)
    again = await world.deliver(alert(until_s=60, **CHECKOUT), now_s=62)

    [incident] = await world.incidents(IncidentState.RESOLVED)
    assert (first.resolved, again.resolved) == ((incident.id,), ())
    assert incident.resolved_at == at(61)
    assert await world.count("transitions", "to_state = 'resolved'") == 1


async def test_a_stale_firing_never_reopens(world: World) -> None:
    await world.deliver(alert(**CHECKOUT), now_s=0)
    await world.deliver(alert(until_s=60, **CHECKOUT), now_s=61)
    filed = await world.deliver(alert(**CHECKOUT), now_s=70)

    assert await world.incidents(IncidentState.OPEN) == []
    assert filed.changed == ()


async def test_a_poll_that_sees_it_fire_takes_a_wrong_resolve_back(world: World) -> None:
    await world.deliver(alert(**CHECKOUT), now_s=0)
    await world.deliver(alert(until_s=60, **CHECKOUT), now_s=61)
    await world.deliver(alert(**CHECKOUT), now_s=90, polled=True)

    [incident] = await world.incidents(IncidentState.OPEN)
    assert incident.resolved_at is None
    assert (await world.wished())[incident.id] == "reopened"


async def test_a_firing_first_heard_of_after_its_end_is_shown_as_resolved(world: World) -> None:
    await world.deliver(alert(until_s=60, **CHECKOUT), now_s=61)
    assert await world.incidents() == []
    await world.deliver(alert(**CHECKOUT), now_s=70)

    [incident] = await world.incidents()
    assert incident.state is IncidentState.RESOLVED
    assert await world.jobs("triage") == []


async def test_a_recurrence_within_half_an_hour_reopens(world: World) -> None:
    await world.deliver(alert(**CHECKOUT), now_s=0)
    await world.deliver(alert(until_s=60, **CHECKOUT), now_s=61)
    await world.deliver(alert(since_s=900, **CHECKOUT), now_s=901)

    [incident] = await world.incidents()
    assert incident.state is IncidentState.OPEN
    assert incident.occurrences == 2


async def test_a_recurrence_after_half_an_hour_is_a_new_incident(world: World) -> None:
    await world.deliver(alert(**CHECKOUT), now_s=0)
    await world.deliver(alert(until_s=60, **CHECKOUT), now_s=61)
    await world.deliver(alert(since_s=1900, **CHECKOUT), now_s=1900)

    states = [(i.number, i.state) for i in await world.incidents()]
    assert states == [(1, IncidentState.RESOLVED), (2, IncidentState.OPEN)]


@pytest.mark.proves("S3-89", "S3-90")
async def test_the_third_time_in_a_week_is_chronic(world: World) -> None:
    day = 86_400
    for n, start in enumerate((0, 3 * day, 6.9 * day, 30 * day)):
        await world.deliver(alert(since_s=start, **CHECKOUT), now_s=start)
        await world.deliver(
            alert(since_s=start, until_s=start + 60, **CHECKOUT), now_s=start + 61 + n
        )

    told = [(i.recurrences, i.chronic) for i in await world.incidents()]
    assert told == [(0, False), (1, False), (2, True), (0, False)]


@pytest.mark.proves("S3-91")
async def test_a_firing_within_two_days_of_a_fix_is_a_regression(world: World) -> None:
    firing = alert(**CHECKOUT)
    key = family("default", firing, CorrelationRule()).key
    world.rules = Rules(fixed_at={key: at(-47 * 3600)})
    filed = await world.deliver(firing, now_s=0)

    [incident] = await world.incidents()
    assert incident.regression
    assert filed.regressions == 1


async def test_a_flapping_incident_turns_green_after_fifteen_quiet_minutes(world: World) -> None:
    for start in (0, 120):
        await world.deliver(alert(since_s=start, **CHECKOUT), now_s=start)
        await world.deliver(alert(since_s=start, until_s=start + 60, **CHECKOUT), now_s=start + 60)

    [incident] = await world.incidents()
    assert incident.flapping
    assert (incident.state, incident.green_at) == (IncidentState.OPEN, at(180 + 900))
    assert (await world.sweep(180 + 899)).resolved == ()
    assert (await world.sweep(180 + 900)).resolved == (incident.id,)
    assert await world.wished() == {incident.id: "resolved"}


@pytest.mark.proves("S3-107")
async def test_an_incident_without_news_for_six_hours_is_closed(world: World) -> None:
    await world.deliver(alert(**CHECKOUT), now_s=0)
    assert (await world.sweep(6 * 3600 - 1)).closed == ()
    swept = await world.sweep(6 * 3600)

    [incident] = await world.incidents()
    assert swept.closed == (incident.id,)
    assert (incident.state, incident.resolved_at) == (IncidentState.CLOSED, None)
    assert incident.members[0].state is MemberState.STALE
    assert await world.wished() == {incident.id: "closed"}


@pytest.mark.proves("S3-109")
async def test_an_alert_that_keeps_coming_is_never_reaped(world: World) -> None:
    for hour in range(0, 48, 5):
        await world.deliver(alert(**CHECKOUT), now_s=hour * 3600)
        assert (await world.sweep(hour * 3600 + 1)).closed == ()

    [incident] = await world.incidents()
    assert incident.state is IncidentState.OPEN
    assert incident.members[0].last_seen_at == at(45 * 3600)


async def test_what_fires_when_a_source_is_first_asked_is_one_digest(new_world: World) -> None:
    some = [alert("Down", namespace=f"n{i}", service=f"s{i}", since_s=-5) for i in range(31)]
    filed = await new_world.deliver(*some, now_s=0, polled=True)

    assert filed.first_contact == 31
    assert all(i.first_contact for i in await new_world.incidents())
    assert await new_world.jobs("triage") == await new_world.jobs("facts") == []
    assert await new_world.wished() == {"src": "first_contact"}
    assert await new_world.count("cards") == 1


async def test_what_begins_after_first_contact_is_news(new_world: World) -> None:
    await new_world.deliver(alert("Old", since_s=-900, **CHECKOUT), now_s=0)
    await new_world.deliver(alert("New", since_s=20, **CHECKOUT), now_s=21)
    await new_world.deliver(alert("Old", since_s=-900, until_s=60, **CHECKOUT), now_s=60)
    await new_world.deliver(alert("Old", since_s=400, **CHECKOUT), now_s=400)

    told = [(i.lead.alert.rule, i.first_contact, i.state) for i in await new_world.incidents()]
    assert told == [
        ("Old", True, IncidentState.RESOLVED),
        ("New", False, IncidentState.OPEN),
        ("Old", False, IncidentState.OPEN),
    ]


async def test_what_grows_worse_after_first_contact_is_news(new_world: World) -> None:
    old = alert("Old", since_s=-900, severity=Severity.WARNING, **CHECKOUT)
    await new_world.deliver(old, now_s=0, polled=True)
    await new_world.deliver(alert("Old", since_s=500, **CHECKOUT), now_s=500)

    [incident] = await new_world.incidents()
    assert not incident.first_contact
    assert incident.id in await new_world.wished()
    assert await new_world.jobs("facts") == await new_world.jobs("triage") == [incident.id]


async def test_a_heartbeat_is_loud_once_when_it_stops_and_green_when_it_is_back(
    world: World,
) -> None:
    beat = alert("Watchdog", severity=Severity.INFO)
    for minute in range(0, 30, 5):
        await world.deliver(beat, now_s=minute * 60)
    assert (await world.sweep(25 * 60 + 700)).missing == ()
    assert await world.count("cards") == 0

    swept = await world.sweep(25 * 60 + 800)
    assert (await world.sweep(25 * 60 + 900)).missing == ()
    [incident] = await world.incidents()
    assert swept.missing == (incident.id,)
    assert (incident.severity, incident.alert_class) == (Severity.CRITICAL, AlertClass.HEARTBEAT)

    await world.deliver(beat, now_s=3600)
    [incident] = await world.incidents()
    assert incident.state is IncidentState.RESOLVED
    assert await world.wished() == {incident.id: "resolved"}


async def test_a_store_that_cannot_recall_makes_a_new_incident(world: World) -> None:
    await world.deliver(alert(**CHECKOUT), now_s=0)
    await world.deliver(alert(until_s=60, **CHECKOUT), now_s=60)
    async with world.store.begin() as tx:
        # Reading it back fails from here on, writing does not.
        await tx.session.execute(text("alter table transitions alter column at type text"))
    filed = await world.deliver(alert(since_s=120, **CHECKOUT), now_s=120)

    assert filed.recall_failed
    assert [i.state for i in await world.incidents()] == [
        IncidentState.RESOLVED,
        IncidentState.OPEN,
    ]


@pytest.mark.parametrize("on", [True, False])
async def test_the_flag_changes_nothing_in_intake(world: World, on: bool) -> None:
    flags = world.client.flags.model_copy(update={"ai_triage": on})
    world.client = world.client.model_copy(update={"flags": flags})
    await world.deliver(alert(**CHECKOUT), now_s=0)
    filed = await world.deliver(alert("HighLatency", since_s=9, **CHECKOUT), now_s=10)

    [incident] = await world.incidents()
    assert filed.joined == 1
    assert await world.wished() == {incident.id: "joined"}
    assert await world.jobs("facts") == [incident.id]


async def test_an_expiry_joins_nothing(world: World) -> None:
    await world.deliver(alert(**CHECKOUT), now_s=0)
    await world.deliver(
        alert("CertificateExpiresSoon", severity=Severity.WARNING, **CHECKOUT), now_s=5
    )

    classes = [i.alert_class for i in await world.incidents()]
    assert classes == [AlertClass.SYMPTOM, AlertClass.PREDICTIVE]


async def test_what_the_sender_left_out_is_kept_as_missing(world: World) -> None:
    await world.deliver(alert(**CHECKOUT), now_s=0, truncated=7)
    await world.deliver(alert(since_s=1, namespace="other"), now_s=1)

    assert [i.truncated for i in await world.incidents()] == [7, 0]


def test_nul_characters_are_made_storable() -> None:
    dirty = alert(namespace="a\0b")
    tidy = clean(dirty)
    assert tidy.labels["namespace"] == "a\ufffdb"
    assert clean(tidy) is tidy


async def test_a_nul_in_a_label_does_not_lose_its_siblings(world: World) -> None:
    await world.deliver(alert(namespace="a\0b"), alert(namespace="other"), now_s=0)
    assert await world.count("alert_events") == 2


async def test_two_clients_never_share_an_incident(world: World) -> None:
    async with world.store.begin() as tx:
        await tx.org.declare_client("drill", {})
        await tx.sources.declare("drills", "drill", kind="alertmanager", name="prom", token=None)
        await tx.sources.seen("drills", at(-86400 * 3), polled=False)
    drill = replace(
        world, client=world.client.model_copy(update={"id": "drill"}), source_id="drills"
    )
    drill._ids = world._ids
    await world.deliver(alert(**CHECKOUT), now_s=0)
    await drill.deliver(alert("HighLatency", **CHECKOUT), now_s=5)

    assert {(i.client_id, i.number) for i in await world.incidents()} == {
        ("default", 1),
        ("drill", 1),
    }


async def test_one_that_ended_before_it_was_judged_and_comes_back_is_judged(world: World) -> None:
    await world.deliver(alert(**CHECKOUT), now_s=0)
    await world.deliver(alert(until_s=20, **CHECKOUT), now_s=20)
    async with world.store.begin() as tx:  # the job came, saw that it had ended, and went
        await tx.session.execute(text("delete from jobs"))
    await world.deliver(alert(since_s=60, **CHECKOUT), now_s=60)

    [incident] = await world.incidents(IncidentState.OPEN)
    assert await world.jobs("triage") == [incident.id]


async def test_what_is_worse_than_the_incident_it_merges_into_is_still_judged(
    world: World,
) -> None:
    cart = {"cluster": "prod", "namespace": "cart", "service": "cart", "node": "n1"}
    shop = {"cluster": "prod", "namespace": "shop", "service": "shop", "node": "n1"}
    mail = {"cluster": "prod", "namespace": "mail", "service": "mail", "node": "n1"}
    await world.deliver(alert("Slow", severity=Severity.WARNING, **cart), now_s=0)
    await world.judge(1, now_s=1)
    await world.deliver(alert("Broken", severity=Severity.CRITICAL, **shop), now_s=5)
    await world.deliver(alert("Late", severity=Severity.WARNING, **mail), now_s=10)

    [survivor] = await world.incidents(IncidentState.OPEN)
    assert survivor.number == 1
    assert survivor.id in await world.jobs("triage")
