import asyncio
from collections.abc import Mapping
from datetime import timedelta

import pytest

from engine.model.alert import AlertClass
from engine.model.change import Change
from engine.model.evidence import Gap, GapCause, Outcome, Series
from engine.model.incident import MemberState
from engine.model.pack import (
    CanWait,
    CauseClass,
    ChangeFacts,
    ChangeKind,
    HistoryFacts,
    ImpactReason,
    MetricDigest,
    OnsetSource,
    Pack,
    Section,
    SectionName,
    SectionStatus,
    SuspectReason,
)
from engine.pack.build import PackBuilder, build
from engine.pack.section import Ports, SectionNote, Subject
from tests.metrics_fakes import FIRED, NOW, HandClock, Log, Metrics, alert, incident, line, names

OWN = "checkout-api"
ONSET = FIRED - timedelta(minutes=10)
EXPRESSION = (
    'sum by (namespace,service) (rate(http_requests_total{code="500"}[5m])) / '
    "sum by (namespace,service) (rate(http_requests_total[5m])) > 0.1"
)
GRAPH = "http://prometheus.test/graph?g0.expr=" + EXPRESSION.replace("+", "%2B").replace(" ", "+")
SHOP: dict[str, Outcome | tuple[Series, ...]] = {
    "count by (__name__)": names("http_requests_total", "db_pool_in_use", "db_pool_max"),
    "count by (code": (
        line(1, code="200", service=OWN),
        line(1, code="500", service=OWN),
    ),
    "/ sum by (namespace": (line(0.002, 0.23, since=ONSET, namespace="shop", service=OWN),),
    'code=~"5.."': (line(0.05, 5.5, since=ONSET, service=OWN), line(0.05, service="cart-api")),
    "http_requests_total": (line(24, service=OWN), line(20, service="cart-api")),
    "db_pool_in_use": (line(4, 20, since=ONSET, service=OWN), line(3, service="cart-api")),
    "db_pool_max": (line(20, service=OWN), line(20, service="cart-api")),
}


def subject(**kept: object) -> Subject:
    linked = alert().model_copy(update={"generator_url": GRAPH})
    return Subject(incident=incident(linked), **kept)


def ports(
    answers: Mapping[str, Outcome | tuple[Series, ...]] | None = None,
    *,
    changes: list[Change] | None = None,
    hangs_on: str | None = None,
) -> Ports:
    metrics = Metrics(SHOP if answers is None else answers, hangs_on=hangs_on)
    log = None if changes is None else Log(changes)
    return Ports(clock=HandClock(), redact=lambda text: text, metrics=metrics, changes=log)


def change(minutes_to_onset: float, kind: ChangeKind = ChangeKind.DEPLOY, **kept: object) -> Change:
    at = ONSET + timedelta(minutes=minutes_to_onset)
    given = {"source": "ci", "component": OWN, "what": "v41 → v42", "labels": {"service": OWN}}
    return Change(kind=kind, at=at, **{**given, **kept})


def texts(pack: Pack, name: SectionName) -> list[str]:
    section = pack.section(name)
    assert section is not None
    return [item.text for item in section.items]


def status(pack: Pack, name: SectionName) -> SectionStatus:
    section = pack.section(name)
    assert section is not None
    return section.status


@pytest.mark.proves("S3-37")
async def test_the_pool_is_suspected_first_and_no_model_was_asked() -> None:
    pack = await build(subject(), ports())
    assert pack.suspects[0].cause_class is CauseClass.RESOURCE_EXHAUSTION
    assert pack.suspects[0].reasons == (SuspectReason.AT_ITS_LIMIT,)
    assert pack.suspects[0].component == OWN
    cited = [item for item in pack.items if item.id in pack.suspects[0].evidence_ids]
    assert "db_pool_in_use{service=checkout-api} 20 of db_pool_max 20 (100%)" in cited[0].text


@pytest.mark.proves("S3-38")
async def test_equal_evidence_gives_the_same_bytes_and_any_difference_another_hash() -> None:
    one = await build(subject(), ports(changes=[change(-5)]))
    two = await build(subject(), ports(changes=[change(-5)]))
    other = await build(subject(), ports(changes=[change(-6)]))
    assert one.canonical() == two.canonical()
    assert one.hash == two.hash != other.hash
    assert Pack.model_validate_json(one.canonical()).canonical() == one.canonical()


@pytest.mark.proves("S3-39")
async def test_the_anchor_says_when_and_where() -> None:
    anchor = (await build(subject(), ports())).anchor
    assert (anchor.severity, anchor.environment, anchor.service) == ("critical", "prod", OWN)
    assert anchor.host is None
    assert anchor.grouping_key == {"environment": "prod", "namespace": "shop", "service": OWN}
    assert anchor.fired_at == FIRED
    assert anchor.taken_at == NOW
    assert abs((anchor.onset_at - ONSET).total_seconds()) <= 15
    assert anchor.onset_source is OnsetSource.CHANGE_POINT
    assert anchor.expression == EXPRESSION


async def test_an_alert_that_claims_to_start_after_it_arrived_fired_when_it_arrived() -> None:
    ahead = incident(alert(NOW + timedelta(hours=1)))
    anchor = (await build(Subject(incident=ahead), ports({}))).anchor
    assert anchor.fired_at == NOW


@pytest.mark.proves("S3-40")
async def test_metrics_are_digests_against_what_was_before_onset() -> None:
    pack = await build(subject(), ports())
    digests = {i.facts.name: i.facts for i in pack.items if isinstance(i.facts, MetricDigest)}
    pool = digests["db_pool_in_use"]
    assert (pool.last, pool.limit, pool.peers, pool.baseline) == (20, 20, 3, 4)
    assert pool.deviation is not None
    assert pool.deviation > 4
    assert len(pool.sparkline) == 24
    own = digests["alert expression"]
    assert own.own_expression
    assert all(len(item.text) < 400 for item in pack.items)


async def test_peers_that_did_not_move_are_no_lines_of_their_own() -> None:
    lines = texts(await build(subject(), ports()), SectionName.METRICS)
    assert not any("cart-api" in text for text in lines)


async def test_a_peer_that_moved_is_a_line_and_says_that_it_is_a_peer() -> None:
    moved = SHOP | {
        "db_pool_in_use": (line(4, service=OWN), line(3, 15, since=ONSET, service="cart-api"))
    }
    lines = texts(await build(subject(), ports(moved)), SectionName.METRICS)
    assert any(text.startswith("peer db_pool_in_use{service=cart-api} 15") for text in lines)


@pytest.mark.proves("S3-41", "S3-42", "S3-43")
async def test_changes_on_the_host_before_firing_come_newest_first_with_their_offset() -> None:
    hosted = alert(instance="web-1:9100", service="")
    told = [
        change(-30, component="web-1", host="web-1", what="nginx.conf", kind=ChangeKind.CONFIG),
        change(-5, component="web-1", host="web-1", what="kernel", kind=ChangeKind.OTHER),
        change(-5, component="web-2", host="web-2", what="elsewhere", kind=ChangeKind.OTHER),
        change(11, component="web-1", host="web-1", what="after firing", kind=ChangeKind.OTHER),
    ]
    scope = {"namespace": "shop", "host": "web-1"}
    here = Subject(incident=incident(hosted, scope=scope))
    pack = await build(here, ports({}, changes=told))
    section = pack.section(SectionName.CHANGES)
    assert section is not None
    facts = [item.facts for item in section.items if isinstance(item.facts, ChangeFacts)]
    assert [f.what for f in facts] == ["kernel", "nginx.conf"]
    assert [f.offset_s for f in facts] == [-15 * 60, -40 * 60]
    assert [item.id for item in section.items] == ["C1", "C2"]


@pytest.mark.proves("S3-44")
async def test_without_a_resolved_host_there_are_no_host_changes() -> None:
    pack = await build(subject(), ports(changes=[change(-5, host="web-1")]))
    section = pack.section(SectionName.CHANGES)
    assert section is not None
    assert (section.status, section.items, section.note) == (
        SectionStatus.EMPTY,
        (),
        SectionNote.NO_HOST,
    )


@pytest.mark.proves("S3-45")
async def test_deploys_of_the_whole_client_are_ranked_by_distance_to_onset() -> None:
    told = [
        change(-90, what="far"),
        change(-3, what="near", component="cart-api", labels={"service": "cart-api"}),
        change(8, what="after"),
        change(-4, what="cloud", kind=ChangeKind.CLOUD),
    ]
    pack = await build(subject(), ports(changes=told))
    section = pack.section(SectionName.DEPLOYS)
    assert section is not None
    facts = [item.facts for item in section.items if isinstance(item.facts, ChangeFacts)]
    assert [f.what for f in facts] == ["near", "after", "far"]
    assert [round(f.onset_offset_s / 60) for f in facts] == [-3, 8, -90]
    assert [round(f.offset_s / 60) for f in facts] == [-13, -2, -100]


@pytest.mark.proves("S3-45")
async def test_a_deploy_just_before_onset_outweighs_even_a_full_pool() -> None:
    pack = await build(subject(), ports(changes=[change(-3)]))
    assert [s.cause_class for s in pack.suspects[:2]] == [
        CauseClass.DEPLOY,
        CauseClass.RESOURCE_EXHAUSTION,
    ]


async def test_a_deploy_after_onset_is_listed_and_never_suspected() -> None:
    pack = await build(subject(), ports(changes=[change(4)]))
    assert "v41 → v42" in texts(pack, SectionName.DEPLOYS)[0]
    assert CauseClass.DEPLOY not in {s.cause_class for s in pack.suspects}


@pytest.mark.proves("S3-46")
async def test_cloud_changes_without_a_host_have_a_section_of_their_own() -> None:
    told = [change(-20, kind=ChangeKind.CLOUD, component="fw-1", what="firewall rule")]
    hosted = change(-20, kind=ChangeKind.CLOUD, host="web-9", what="resize")
    pack = await build(subject(), ports(changes=[*told, hosted, change(-3)]))
    (line_,) = texts(pack, SectionName.CLOUD)
    assert "firewall rule" in line_
    assert [i.id for i in pack.items if "firewall rule" in i.text] == ["N1"]


async def test_no_changes_and_nobody_who_would_tell_are_different() -> None:
    silent = await build(subject(), ports(changes=[]))
    quiet = await build(subject(), ports(changes=[change(-9000)]))
    without = await build(subject(), Ports(clock=HandClock(), redact=str))
    notes = [pack.section(SectionName.DEPLOYS) for pack in (silent, quiet, without)]
    assert [(s.status, s.note) for s in notes if s is not None] == [
        (SectionStatus.EMPTY, SectionNote.NO_CHANGE_SOURCE),
        (SectionStatus.EMPTY, ""),
        (SectionStatus.NOT_CONFIGURED, ""),
    ]


async def test_a_rehearsals_change_is_no_evidence_for_a_real_incident() -> None:
    pack = await build(subject(), ports(changes=[change(-3, drill=True)]))
    assert status(pack, SectionName.DEPLOYS) is SectionStatus.EMPTY


async def test_every_section_is_there_and_what_is_not_built_is_not_configured() -> None:
    pack = await build(subject(), ports())
    assert [section.name for section in pack.sections] == list(SectionName)
    assert status(pack, SectionName.LOGS) is SectionStatus.NOT_CONFIGURED
    assert pack.degraded == ()


@pytest.mark.proves("S3-33")
async def test_one_query_that_hangs_degrades_its_section_and_holds_up_no_other() -> None:
    pack = await asyncio.wait_for(build(subject(), ports(hangs_on="db_pool_max")), 2)
    section = pack.section(SectionName.METRICS)
    assert section is not None
    assert (section.status, section.cause) == (SectionStatus.DEGRADED, GapCause.TIMED_OUT)
    assert pack.degraded == (SectionName.METRICS,)
    assert status(pack, SectionName.IMPACT) is SectionStatus.OK


@pytest.mark.proves("S3-33")
async def test_a_backend_that_never_answers_still_gives_a_pack_in_time() -> None:
    pack = await asyncio.wait_for(build(subject(), ports(hangs_on="")), 2)
    assert set(pack.degraded) == {SectionName.METRICS, SectionName.IMPACT, SectionName.DEPLOYS}
    assert status(pack, SectionName.ALERTS) is SectionStatus.OK
    assert pack.anchor.onset_source is OnsetSource.FIRED
    assert pack.impact.reason is ImpactReason.NOT_MEASURED


@pytest.mark.proves("S3-34")
async def test_a_listener_hears_of_each_section_as_it_ends() -> None:
    heard: list[SectionName] = []
    await build(subject(), ports(), on_section=lambda section: heard.append(section.name))
    assert sorted(heard) == sorted(SectionName)


async def test_what_is_known_can_be_taken_while_a_slow_section_goes_on() -> None:
    measured = asyncio.Event()

    def heard(section: Section) -> None:
        if section.name is SectionName.IMPACT:
            measured.set()

    builder = PackBuilder(subject(), ports(hangs_on="db_pool_max"), heard)
    going = asyncio.create_task(builder.finish())
    await measured.wait()
    early = builder.partial()
    assert early.section(SectionName.METRICS) is None
    assert early.section(SectionName.ALERTS) is not None
    assert early.impact.reason is ImpactReason.USERS_HIT
    assert (await going).section(SectionName.METRICS) is not None


async def test_a_partial_pack_is_there_before_anything_was_asked() -> None:
    early = PackBuilder(subject(), ports()).partial()
    assert early.sections == ()
    assert early.anchor.fired_at == early.anchor.onset_at == FIRED


async def test_a_refusing_backend_names_its_cause_and_is_no_empty_answer() -> None:
    gap = Gap(cause=GapCause.BREAKER_OPEN)
    pack = await build(subject(), ports({"": gap}))
    section = pack.section(SectionName.METRICS)
    assert section is not None
    assert section.cause is GapCause.BREAKER_OPEN


async def test_secrets_and_what_nobody_sees_leave_the_texts_before_the_pack_is_frozen() -> None:
    leaky = alert().model_copy(
        update={"annotations": {"summary": "login hun\u200bter2 failed", "runbook": "hunter2!"}}
    )
    clean = Ports(clock=HandClock(), redact=lambda text: text.replace("hunter2", "[redacted]"))
    past = HistoryFacts(occurrences=3, window_s=604800, last_root_cause="key hunter2")
    pack = await build(Subject(incident=incident(leaky), history=past), clean)
    assert "hunter2" not in pack.canonical()
    assert pack.canonical().count("[redacted]") >= 3


async def test_history_says_which_rule_spoke_first_and_what_was_found_last_time() -> None:
    later = alert(FIRED + timedelta(seconds=40), alertname="HighLatency")
    past = HistoryFacts(
        occurrences=3, window_s=604800, last_at=FIRED - timedelta(days=2),
        last_root_cause="pool of checkout-api too small", last_trust="verified",
    )  # fmt: skip
    pack = await build(Subject(incident=incident(alert(), later), history=past), ports({}))
    first, again = texts(pack, SectionName.HISTORY)
    assert first == "CheckoutHighErrorRate fired first, 40 s before HighLatency"
    assert again.startswith("fired 3 times in 7 d; last 2026-02-27 03:03Z; last finding (verified)")


async def test_like_alerts_are_counted_exactly_and_shown_once() -> None:
    pods = [alert(pod=f"checkout-api-{n}") for n in range(25)]
    pack = await build(Subject(incident=incident(*pods)), ports({}))
    (text,) = texts(pack, SectionName.ALERTS)
    assert "25 alerts, 25 firing" in text
    assert "pod checkout-api-0, checkout-api-1, checkout-api-10 and 22 more" in text


async def test_an_address_in_an_alert_is_quoted_as_untrusted_and_steps_are_cut_short() -> None:
    helpful = alert().model_copy(
        update={
            "annotations": {
                "runbook_url": "https://runbooks.test/5xx",
                "action": "1. look at the pool\n2. restart\n3. call\n4. wait\n5. leave",
            }
        }
    )
    pack = await build(Subject(incident=incident(helpful)), ports({}))
    lines = texts(pack, SectionName.RUNBOOK)
    assert lines[0] == "CheckoutHighErrorRate runbook_url: https://runbooks.test/5xx"
    assert len(lines) == 5
    assert "leave" not in " ".join(lines)


async def test_users_are_hit_where_traffic_fails() -> None:
    impact = (await build(subject(), ports())).impact
    assert (impact.can_wait, impact.reason) == (CanWait.NO, ImpactReason.USERS_HIT)
    assert impact.error_share is not None
    assert round(impact.error_share, 2) == 0.23
    assert impact.traffic_per_s == 24
    assert impact.evidence_ids


async def test_an_incident_that_no_longer_fires_can_wait() -> None:
    over = Subject(incident=incident(state=MemberState.RESOLVED))
    impact = (await build(over, ports())).impact
    assert (impact.can_wait, impact.reason) == (CanWait.YES, ImpactReason.SELF_CLEARED)


@pytest.mark.parametrize(
    ("expression", "value", "reason", "left_s"),
    [
        ("probe_ssl_earliest_cert_expiry - time() < 86400 * 14", 864_000.0,
         ImpactReason.TIME_LEFT, 864_000.0),
        ("(probe_ssl_earliest_cert_expiry - time()) / 86400 < 14", 10.0,
         ImpactReason.TIME_LEFT, 864_000.0),
        ("(probe_ssl_earliest_cert_expiry - time()) / 3600 < 14", 2.0, ImpactReason.SOON, 7200.0),
        ("predict_linear(disk_free_bytes[6h], 4 * 3600) < 0", 7200.0, ImpactReason.SOON, 7200.0),
        ("disk_free_bytes < 10", 5.0, ImpactReason.NOT_MEASURED, None),
    ],
)  # fmt: skip
async def test_what_is_predicted_says_how_much_time_is_left(
    expression: str, value: float, reason: ImpactReason, left_s: float | None
) -> None:
    graph = "http://prometheus.test/graph?g0.expr=" + expression.replace(" ", "+")
    soon = alert().model_copy(update={"generator_url": graph})
    answers = {"__name__": names("up"), "probe_ssl": (line(value, service=OWN),),
               "disk_free": (line(value, service=OWN),)}  # fmt: skip
    given = Subject(incident=incident(soon, alert_class=AlertClass.PREDICTIVE))
    impact = (await build(given, ports(answers))).impact
    assert (impact.reason, impact.until_s) == (reason, left_s)


async def test_versions_images_and_starts_are_read_from_metrics_without_any_set_up() -> None:
    deployed = ONSET - timedelta(minutes=2)
    half = [line(1, service=OWN, version="v41"), line(1, service=OWN, version="v42")]
    old = half[0].model_copy(update={"points": half[0].points[:180]})
    new = half[1].model_copy(update={"points": half[1].points[180:]})
    image = {"namespace": "shop", "container": "checkout"}
    answers = SHOP | {
        "count by (__name__)": names("app_build_info", "process_start_time_seconds"),
        "kube_pod_container_info": (
            old.model_copy(update={"labels": {**image, "image": "shop/checkout:41"}}),
            new.model_copy(update={"labels": {**image, "image": "shop/checkout:42"}}),
        ),
        "app_build_info": (old, new),
        "process_start_time_seconds": (
            line(1000, deployed.timestamp(), since=deployed, service=OWN),
        ),
    }
    pack = await build(subject(), ports(answers))
    found = {
        i.facts.change: (i.facts.component, i.facts.what)
        for i in pack.items
        if isinstance(i.facts, ChangeFacts)
    }
    assert found == {
        ChangeKind.BUILD: (OWN, "v41 → v42"),
        ChangeKind.IMAGE: ("checkout", "shop/checkout:41 → shop/checkout:42"),
        ChangeKind.RESTART: (OWN, "a process started"),
    }


async def test_a_scope_that_metrics_do_not_carry_is_widened_until_one_answers() -> None:
    answers = {'{namespace="shop",service="checkout-api"}': names("up")}
    asked = ports(answers)
    await build(subject(), asked)
    assert isinstance(asked.metrics, Metrics)
    discovery = [query for query in asked.metrics.asked if "__name__" in query]
    assert discovery == [
        'count by (__name__) ({env="prod",namespace="shop",service="checkout-api"})',
        'count by (__name__) ({namespace="shop",service="checkout-api"})',
    ]


async def test_label_values_are_quoted_whatever_they_hold() -> None:
    odd = alert(service='a"} or up{x="')
    asked = ports({})
    scope = {"namespace": "shop", "service": 'a"} or up{x="'}
    await build(Subject(incident=incident(odd, scope=scope)), asked)
    assert isinstance(asked.metrics, Metrics)
    assert asked.metrics.asked[0] == (
        'count by (__name__) ({namespace="shop",service="a\\"} or up{x=\\""})'
    )
