from collections.abc import Mapping
from datetime import timedelta

import pytest

from engine.model.alert import AlertClass, Severity
from engine.model.incident import JoinReason
from engine.model.pack import (
    AlertFacts,
    Anchor,
    CauseClass,
    ChangeFacts,
    ChangeKind,
    Facts,
    Item,
    MetricDigest,
    OnsetSource,
    Section,
    SectionName,
    SectionStatus,
    Signal,
    Suspect,
    SuspectReason,
)
from engine.pack.suspects import common_labels, rank
from tests.metrics_fakes import FIRED, SCOPE, alert, incident

ONSET = FIRED - timedelta(minutes=15)
ANCHOR = Anchor(
    incident_id="i1", client_id="default", rule="CheckoutHighErrorRate",
    severity=Severity.CRITICAL, alert_class=AlertClass.SYMPTOM, summary="", environment="prod",
    service="checkout-api", host=None, grouping_key=SCOPE, fired_at=FIRED, active_at=FIRED,
    onset_at=ONSET, onset_source=OnsetSource.CHANGE_POINT, taken_at=FIRED,
)  # fmt: skip


def ranked(*facts: Facts, common: Mapping[str, str] | None = None) -> tuple[Suspect, ...]:
    items = tuple(Item(id=f"M{n}", text=f"fact {n}", facts=f) for n, f in enumerate(facts, 1))
    section = Section(name=SectionName.METRICS, status=SectionStatus.OK, items=items)
    return rank(ANCHOR, [section], common=common, floor=0.35)


def changed(minutes: float, kind: ChangeKind = ChangeKind.DEPLOY, component: str = "checkout-api"
            ) -> ChangeFacts:  # fmt: skip
    at = ONSET + timedelta(minutes=minutes)
    return ChangeFacts(
        change=kind, at=at, offset_s=(at - FIRED).total_seconds(), onset_offset_s=minutes * 60,
        component=component, what="v2", source="ci", labels={"x": "y"},
    )  # fmt: skip


def digest(signal: Signal, deviation: float | None = None, **kept: object) -> MetricDigest:
    given: dict[str, object] = {
        "name": signal.value, "query": "q", "labels": {"service": "checkout-api"}, "minimum": 0,
        "mean": 0, "maximum": 0, "last": 0, "baseline": 0, "deviation": deviation,
        "sparkline": "", "signal": signal,
    }  # fmt: skip
    return MetricDigest.model_validate({**given, **kept})


def peer(signal: Signal, deviation: float, name: str = "cart-api") -> MetricDigest:
    return digest(signal, deviation, peer=True, labels={"service": name})


def full(**kept: object) -> MetricDigest:
    return digest(Signal.SATURATION, **{"last": 20, "limit": 20, "baseline": None, **kept})


@pytest.mark.parametrize(
    ("minutes", "suspected"),
    [(-2, True), (-60, True), (-600, False), (0.5, True), (2, False), (10, False)],
)
def test_a_deploy_is_suspected_by_how_shortly_before_onset_it_came(
    minutes: float, *, suspected: bool
) -> None:
    assert bool(ranked(changed(minutes))) is suspected


def test_a_deploy_between_onset_and_firing_is_a_decoy() -> None:
    decoy = changed(5)
    assert decoy.offset_s < 0
    assert [s.cause_class for s in ranked(decoy, full())] == [CauseClass.RESOURCE_EXHAUSTION]


def test_a_nearer_deploy_comes_first_and_a_deploy_of_something_else_later() -> None:
    near, far = changed(-5, component="checkout"), changed(-120, component="checkout-api")
    other = changed(-1, component="search")
    assert [s.component for s in ranked(other, far, near)] == ["checkout", "search"]


@pytest.mark.parametrize(
    ("facts", "reason", "cause"),
    [
        (full(), SuspectReason.AT_ITS_LIMIT, CauseClass.RESOURCE_EXHAUSTION),
        (changed(-2, ChangeKind.CONFIG), SuspectReason.CONFIG_CHANGED, CauseClass.CONFIG_CHANGE),
        (changed(-2, ChangeKind.CLOUD), SuspectReason.CHANGED_NEAR_ONSET,
         CauseClass.CLOUD_PROVIDER),
        (changed(-2, ChangeKind.IMAGE), SuspectReason.CHANGED_NEAR_ONSET, CauseClass.DEPLOY),
        (digest(Signal.CPU, 20), SuspectReason.DEVIATED_BEFORE, CauseClass.RESOURCE_EXHAUSTION),
        (digest(Signal.TRAFFIC, 30), SuspectReason.DEVIATED_BEFORE, CauseClass.TRAFFIC),
        (peer(Signal.LATENCY, 30), SuspectReason.DEVIATED_BEFORE, CauseClass.DEPENDENCY),
        (peer(Signal.UP, -30), SuspectReason.DEVIATED_BEFORE, CauseClass.DEPENDENCY),
    ],
)  # fmt: skip
def test_what_is_suspected_says_why(facts: Facts, reason: SuspectReason, cause: CauseClass) -> None:
    (suspect,) = ranked(facts)
    assert (suspect.reasons, suspect.cause_class) == ((reason,), cause)
    assert (suspect.evidence_ids, suspect.text) == (("M1",), "fact 1")


@pytest.mark.parametrize(
    "facts",
    [
        digest(Signal.OTHER, 40, own_expression=True),
        digest(Signal.ERRORS, 40),
        digest(Signal.LATENCY, 40),
        digest(Signal.CPU, 2),
        digest(Signal.CPU, -20),
        digest(Signal.CPU, None),
        digest(Signal.CPU, 20, changed_at=ONSET + timedelta(minutes=5)),
        digest(Signal.SATURATION, 1, last=12, limit=20),
        peer(Signal.LATENCY, -30),
    ],
)
def test_what_restates_improves_or_comes_late_is_not_suspected(facts: Facts) -> None:
    assert ranked(facts) == ()


def test_a_limit_weighs_more_when_it_was_just_reached_and_peers_have_room() -> None:
    scores = [
        ranked(full(**kept))[0].score
        for kept in (
            {"baseline": 20, "peers": 20},
            {"baseline": 20, "peers": 3},
            {"baseline": 4, "peers": 20},
            {"baseline": 4, "peers": 3},
        )
    ]
    assert scores == sorted(scores)
    assert scores[0] < scores[1]


def test_the_wilder_move_comes_first() -> None:
    found = ranked(peer(Signal.ERRORS, 8, "a"), peer(Signal.ERRORS, 45, "b"))
    assert [s.component for s in found] == ["b", "a"]


def test_evidence_against_one_component_is_gathered_in_one_suspect() -> None:
    (suspect,) = ranked(full(peers=3), digest(Signal.MEMORY, 10))
    assert suspect.evidence_ids == ("M1", "M2")
    assert suspect.reasons == (SuspectReason.AT_ITS_LIMIT, SuspectReason.DEVIATED_BEFORE)


def test_a_cause_alert_among_the_members_is_suspected() -> None:
    node = AlertFacts(
        rule="NodeNotReady", severity=Severity.CRITICAL, alert_class=AlertClass.CAUSE,
        labels={"node": "w-3"}, count=1, firing=1, starts_at=ONSET,
    )  # fmt: skip
    (suspect,) = ranked(node)
    assert (suspect.component, suspect.cause_class) == ("w-3", CauseClass.NODE)


def test_what_everything_that_went_bad_shares_is_suspected() -> None:
    joined = incident(alert(), reason=JoinReason.COMMON_DENOMINATOR, shared={"node": "w-3"})
    (suspect,) = ranked(common=common_labels(joined))
    assert (suspect.component, suspect.reasons) == ("w-3", (SuspectReason.COMMON_DENOMINATOR,))


def test_nothing_stands_out_in_quiet_facts() -> None:
    assert ranked(digest(Signal.CPU, 0.3), changed(-1000)) == ()
