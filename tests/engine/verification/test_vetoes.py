"""What code has against a cause, whatever the models agree on."""

from typing import Any

import pytest

from engine.model.evidence import QueryOutcome
from engine.model.finding import (
    CauseKey,
    CheckResult,
    CheckSource,
    Claim,
    ClaimRuling,
    Ruling,
    Veto,
)
from engine.model.ledger import LedgerEntry
from engine.model.pack import CauseClass, Item, Signal, TextFacts
from engine.verification.accused import Accused
from engine.verification.independence import restates
from engine.verification.refuters import could_refute
from engine.verification.vetoes import vetoes
from tests.engine.judged import ALERT, DEPLOY, EXPRESSION, OWN, POOL, change, metric, pack


def result(id_: str = "R1", **changes: Any) -> CheckResult:
    facts = {
        "source": CheckSource.FLOOR,
        "kind": "peer_up_ratio",
        "asked": "sum(up)",
        "outcome": QueryOutcome.FETCHED,
        "text": "up 3/3",
        "scoped": True,
        "backend": "metrics",
    }
    return CheckResult(id=id_, **{**facts, **changes})


def asked(query: str = 'pool{service="a"}', **changes: Any) -> CheckResult:
    own = {"source": CheckSource.MODEL, "kind": "model_promql", "asked": query}
    return result("R3", **{**own, **changes})


CLEAN = (result(), asked())


def hits(
    *items: Item,
    cites: tuple[str, ...] = ("D1", "M2"),
    component: str = "checkout-api",
    cause_class: CauseClass = CauseClass.DEPLOY,
    results: tuple[CheckResult, ...] = CLEAN,
    ledger: tuple[LedgerEntry, ...] = (),
    **anchor: Any,
) -> set[Veto]:
    claim = Claim(text="x", evidence_ids=cites, key=True)
    known = pack(*(items or (ALERT, OWN, POOL, DEPLOY)))
    accused = Accused(
        cause=CauseKey(component=component, cause_class=cause_class),
        rulings=(ClaimRuling(claim=claim, ruling=Ruling.SUPPORTED),),
        pack=known.model_copy(update={"anchor": known.anchor.model_copy(update=anchor)}),
        results=results,
        ledger=ledger,
    )
    return set(vetoes(accused))


def test_a_cause_before_onset_with_a_scoped_check_has_no_veto() -> None:
    assert hits() == set()


LATE = change("D1", "checkout-api", 60)
EARLY = change("D2", "checkout-api", -60)
OTHER = change("D3", "search", -60)


@pytest.mark.parametrize(
    ("items", "given", "hit"),
    [
        ((LATE,), {}, True),
        ((LATE, EARLY), {"cites": ("D1", "D2")}, False),
        ((LATE, OTHER), {"cites": ("D1", "D3")}, True),
        ((LATE, OTHER), {"cites": ("M2",)}, True),
        ((LATE, EARLY), {"cites": ("M2",)}, False),
        ((LATE,), {"cites": ("M2",), "component": "payments"}, True),
        ((OTHER,), {"cites": ("M2",)}, False),
        ((LATE, EARLY), {"cites": ("M2",), "component": "payments"}, False),
        ((LATE, OTHER), {"cites": ("D3",)}, False),
        ((change("D1", "checkout-api", 0),), {}, False),
        ((change("D1", "checkout-api", 0.5),), {}, True),
        ((LATE,), {"cause_class": CauseClass.CODE_FAULT}, True),
        ((LATE,), {"cause_class": CauseClass.DATABASE, "cites": ("M2",)}, False),
    ],
)
def test_what_began_after_onset_did_not_cause_it(
    items: tuple[Item, ...], given: dict[str, Any], *, hit: bool
) -> None:
    assert (Veto.BEGAN_AFTER_ONSET in hits(ALERT, OWN, POOL, *items, **given)) is hit


@pytest.mark.parametrize(("changed_s", "hit"), [(-30, False), (60, False), (61, True)])
def test_a_metric_that_moved_after_onset_is_no_cause_either(changed_s: float, *, hit: bool) -> None:
    late = metric("M3", "queue", 9, changed_s=changed_s)
    given = {"cause_class": CauseClass.RESOURCE_EXHAUSTION, "cites": ("M3",)}
    assert (Veto.BEGAN_AFTER_ONSET in hits(ALERT, OWN, late, **given)) is hit  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("deviations", "hit"),
    [([0.5], True), ([-2.9, 1], True), ([0.5, 3.0], False), ([-8], False), ([None], False)],
)
def test_a_component_on_which_nothing_deviates_is_not_to_blame(
    deviations: list[float | None], *, hit: bool
) -> None:
    measured = [
        metric(f"M{n}", "latency", value, service="search-api")
        for n, value in enumerate(deviations, start=5)
    ]
    found = hits(ALERT, OWN, *measured, OTHER, component="search-api", cites=("D3", "M5"))
    assert (Veto.NO_DEVIATION in found) is hit


def test_a_pool_that_was_full_all_along_is_not_cleared_by_standing_still() -> None:
    full = metric("M5", "pool", 0.1, service="search-api")
    limited = full.facts.model_copy(update={"limit": 9.0})
    found = hits(
        ALERT, OWN, full.model_copy(update={"facts": limited}), OTHER,
        component="search-api", cites=("D3", "M5"),
    )  # fmt: skip
    assert Veto.NO_DEVIATION not in found


@pytest.mark.parametrize(("kind", "hit"), [("build", False), ("deploy", True)])
def test_a_change_read_off_metrics_is_known_to_one_scrape_only(kind: str, *, hit: bool) -> None:
    late = change("D1", "checkout-api", 45, kind=kind)
    assert (Veto.BEGAN_AFTER_ONSET in hits(ALERT, OWN, POOL, late)) is hit


@pytest.mark.parametrize(("elsewhere", "hit"), [(9.0, True), (7.3, True), (7.1, False)])
def test_a_symptom_as_strong_on_the_old_version_clears_the_new_one(
    elsewhere: float, *, hit: bool
) -> None:
    new = metric("M5", "errors", 9, own=True, last=9.0, version="v2.4.1")
    old = metric("M6", "errors", 9, own=True, last=elsewhere, version="v2.4.0")
    found = hits(ALERT, new, old, POOL, DEPLOY)
    assert (Veto.AS_STRONG_WITHOUT_CAUSE in found) is hit


def test_a_symptom_on_every_node_clears_the_one_that_is_blamed() -> None:
    nodes = [metric(f"M{n}", "errors", 9, own=True, node=f"n{n}") for n in (5, 6)]
    given = {"component": "n5", "cause_class": CauseClass.NODE, "cites": ("M2",)}
    assert Veto.AS_STRONG_WITHOUT_CAUSE in hits(ALERT, POOL, *nodes, **given)  # type: ignore[arg-type]
    assert Veto.AS_STRONG_WITHOUT_CAUSE not in hits(ALERT, POOL, nodes[0], **given)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("own", "hit"),
    [
        (metric("M1", "errors", 14, own=True, changed_s=-300), True),
        (metric("M1", "errors", 14, own=True, changed_s=-200), False),
        (metric("M1", "errors", 0.4, own=True), True),
        (metric("M1", "errors", 14, own=True), False),
    ],
)
def test_a_symptom_that_stood_before_the_change_was_not_made_by_it(own: Item, *, hit: bool) -> None:
    assert (Veto.STOOD_BEFORE_CAUSE in hits(ALERT, own, POOL, DEPLOY)) is hit


@pytest.mark.parametrize(
    ("cites", "results", "hit"),
    [
        (("A1", "M1"), CLEAN, True),
        ((), CLEAN, True),
        (("Z9",), CLEAN, True),
        (("A1", "D1"), CLEAN, False),
        (("A1", "R3"), CLEAN, False),
        (("A1", "R3"), (result(), asked(EXPRESSION)), True),
        (("A1", "R3"), (result(), asked(EXPRESSION.removesuffix(" > 5"))), True),
        (("A1", "R3"), (result(), asked(outcome=QueryOutcome.EMPTY)), True),
        (("A1", "R2"), (result("R2", kind="incidents_in_window", backend=None), asked()), True),
    ],
)
def test_the_alert_told_once_more_is_no_evidence_of_its_cause(
    cites: tuple[str, ...], results: tuple[CheckResult, ...], *, hit: bool
) -> None:
    assert (Veto.ONLY_OWN_EXPRESSION in hits(cites=cites, results=results)) is hit


@pytest.mark.parametrize(
    ("query", "same"),
    [
        (EXPRESSION, True),
        (EXPRESSION.replace(" ", "").replace(">5", ""), True),
        (EXPRESSION.replace("> 5", ">= 1"), True),
        ('sum(rate(http_errors_total{service="search"}[5m]))', False),
        ('up{service="checkout-api"}', False),
    ],
)
def test_a_query_restates_the_alert_with_or_without_its_threshold(
    query: str, *, same: bool
) -> None:
    assert restates(query, EXPRESSION) is same
    assert not restates(query, None)


@pytest.mark.parametrize(
    ("floor", "hit"),
    [
        ([result(scoped=False)], True),
        ([result(scoped=False), result("R2", kind="ready_pods")], False),
        ([result(outcome=QueryOutcome.EMPTY, scoped=False)], False),
        ([], False),
    ],
)
def test_a_ratio_over_everything_is_no_floor(floor: list[CheckResult], *, hit: bool) -> None:
    assert (Veto.FLOOR_UNSCOPED in hits(results=(*floor, asked()))) is hit


@pytest.mark.parametrize(
    ("results", "cause_class", "hit"),
    [
        ((result(),), CauseClass.DEPLOY, True),
        ((result(),), CauseClass.NODE, False),
        ((result(scoped=False),), CauseClass.NODE, True),
        ((result(outcome=QueryOutcome.FAILED),), CauseClass.NODE, True),
        ((asked(),), CauseClass.DEPLOY, False),
        ((asked(scoped=False),), CauseClass.DEPLOY, True),
        ((asked(outcome=QueryOutcome.EMPTY),), CauseClass.DEPLOY, True),
        ((asked(EXPRESSION),), CauseClass.DEPLOY, True),
        ((result("R2", kind="incidents_in_window", backend=None),), CauseClass.NETWORK, True),
    ],
)
def test_a_cause_no_check_could_have_spoken_against_was_not_verified(
    results: tuple[CheckResult, ...], cause_class: CauseClass, *, hit: bool
) -> None:
    component = "checkout-api" if cause_class is CauseClass.DEPLOY else "worker-3"
    found = hits(results=results, component=component, cause_class=cause_class)
    assert (Veto.NOTHING_COULD_REFUTE in found) is hit


def test_a_deploy_nobody_can_point_at_cannot_be_verified() -> None:
    assert Veto.NOTHING_COULD_REFUTE in hits(ALERT, OWN, POOL, cites=("M2",))


def test_a_query_of_the_models_own_may_speak_to_any_class_that_says_something() -> None:
    mute = [one for one in CauseClass if not could_refute("model_promql", one)]
    assert mute == [CauseClass.OTHER]
    assert not any(could_refute("unheard of", one) for one in CauseClass)


POOLED = metric("M2", "checkout-api db pool in use", 8, service="checkout-api")
SAID = Item(id="A2", text="the fault is in mail-relay", facts=TextFacts(untrusted=True))
NOTED = SAID.model_copy(update={"id": "A3", "facts": TextFacts()})


@pytest.mark.parametrize(
    ("component", "cause_class", "hit"),
    [
        ("search", CauseClass.DEPLOY, True),
        ("search", CauseClass.CODE_FAULT, True),
        ("orders-db", CauseClass.DATABASE, True),
        ("checkout-api", CauseClass.DEPLOY, False),
    ],
)
def test_what_nothing_is_measured_on_shows_no_deviation(
    component: str, cause_class: CauseClass, *, hit: bool
) -> None:
    found = hits(
        ALERT, OWN, POOLED, OTHER, component=component, cause_class=cause_class, cites=("D3", "M2")
    )
    assert (Veto.NO_DEVIATION in found) is hit


@pytest.mark.parametrize(
    ("items", "cause_class", "cites", "hit"),
    [
        ((), CauseClass.DATABASE, ("R3",), False),
        ((), CauseClass.DATABASE, ("M2",), True),
        ((change("D4", "orders-db", -60),), CauseClass.DEPLOY, ("R3", "D4"), True),
    ],
)
def test_a_check_may_show_what_the_pack_does_not_but_never_for_a_change(
    items: tuple[Item, ...], cause_class: CauseClass, cites: tuple[str, ...], *, hit: bool
) -> None:
    found = hits(
        ALERT, OWN, POOLED, *items,
        component="orders-db", cause_class=cause_class, cites=cites,
        results=(result(), asked('pg_up{database="orders-db"}')),
    )  # fmt: skip
    assert (Veto.NO_DEVIATION in found) is hit


def test_peers_that_are_all_up_clear_what_would_take_them_along() -> None:
    well = result(figures={"good": 12.0, "every": 12.0})
    some = result(figures={"good": 11.0, "every": 12.0})
    for cause_class, floor, hit in [
        (CauseClass.NETWORK, well, True),
        (CauseClass.NETWORK, some, False),
        (CauseClass.DEPLOY, well, False),
    ]:
        found = hits(cause_class=cause_class, results=(floor, asked("tcp_drops{a='b'}")))
        assert (Veto.NO_DEVIATION in found) is hit


def test_a_kind_of_cause_that_nothing_measures_shows_no_deviation() -> None:
    some = result(figures={"good": 11.0, "every": 12.0})
    for query, hit in [("up{a='b'}", True), ("node_network_drop_total{a='b'}", False)]:
        found = hits(cause_class=CauseClass.NETWORK, results=(some, asked(query)))
        assert (Veto.NO_DEVIATION in found) is hit


@pytest.mark.parametrize(
    ("cause_class", "signal"),
    [(CauseClass.TRAFFIC, Signal.TRAFFIC), (CauseClass.MONITORING, Signal.UP)],
)
@pytest.mark.parametrize(("moved", "hit"), [(9, False), (1, True), (None, True)])
def test_traffic_or_scraping_is_to_blame_only_where_it_moved(
    cause_class: CauseClass, signal: Signal, moved: float | None, *, hit: bool
) -> None:
    seen = metric("M7", "requests", moved, service="checkout-api")
    flow = seen.model_copy(update={"facts": seen.facts.model_copy(update={"signal": signal})})
    found = hits(ALERT, OWN, POOLED, flow, cause_class=cause_class, cites=("M7",))
    assert (Veto.NO_DEVIATION in found) is hit


@pytest.mark.parametrize(
    ("elsewhere", "hit"), [((9.0, 9.0), True), ((7.1, 9.0), False), ((9.0, 0.1), False)]
)
def test_a_symptom_as_strong_in_other_services_clears_the_one_that_is_blamed(
    elsewhere: tuple[float, float], *, hit: bool
) -> None:
    last, deviation = elsewhere
    here = metric("M5", "errors", 9, own=True, last=9.0, service="checkout-api")
    there = metric("M6", "errors", deviation, own=True, last=last, service="payments")
    found = hits(ALERT, here, there, POOL, DEPLOY)
    assert (Veto.AS_STRONG_WITHOUT_CAUSE in found) is hit


@pytest.mark.parametrize(("changed_s", "hit"), [(-301, True), (-299, False)])
def test_what_explains_the_symptom_may_not_stand_before_the_change_either(
    changed_s: float, *, hit: bool
) -> None:
    pool = metric("M2", "pool", 8, changed_s=changed_s)
    assert (Veto.STOOD_BEFORE_CAUSE in hits(ALERT, OWN, pool, DEPLOY)) is hit


@pytest.mark.parametrize(
    ("items", "component", "cites", "hit"),
    [
        ((SAID,), "mail-relay", ("A2", "M2"), True),
        ((NOTED,), "mail-relay", ("A3", "M2"), False),
        ((SAID, change("D4", "mail-relay", -60)), "mail-relay", ("A2", "D4"), False),
        ((SAID,), "checkout-api", ("A2", "M2"), False),
        ((SAID,), "checkout-api", ("A2",), True),
        ((SAID,), "checkout-api", ("A2", "A1", "M1"), True),
        ((NOTED,), "checkout-api", ("A3",), False),
    ],
)
def test_what_anyone_can_write_is_no_evidence_by_itself(
    items: tuple[Item, ...], component: str, cites: tuple[str, ...], *, hit: bool
) -> None:
    found = hits(ALERT, OWN, POOLED, *items, component=component, cites=cites)
    assert (Veto.ONLY_WRITABLE_TEXT in found) is hit


@pytest.mark.parametrize(
    ("component", "cause_class", "hit"),
    [
        ("checkout-api", CauseClass.DEPENDENCY, True),
        ("checkout-api", CauseClass.DATABASE, True),
        ("orders-db", CauseClass.DATABASE, False),
        ("checkout-api", CauseClass.RESOURCE_EXHAUSTION, False),
        ("checkout-api", CauseClass.CODE_FAULT, False),
        ("payments", CauseClass.CODE_FAULT, True),
        ("checkout-api", CauseClass.OTHER, True),
    ],
)
def test_a_cause_must_be_something_that_could_turn_out_to_be_wrong(
    component: str, cause_class: CauseClass, *, hit: bool
) -> None:
    found = hits(component=component, cause_class=cause_class)
    assert (Veto.NOTHING_COULD_REFUTE in found) is hit


def test_a_cited_change_of_something_else_is_not_the_blamed_ones() -> None:
    found = hits(ALERT, OWN, POOLED, OTHER, cites=("D3", "M2"))
    assert Veto.NOTHING_COULD_REFUTE in found


def test_a_cause_is_told_from_another_by_component_and_class_in_fixed_words() -> None:
    assert str(CauseKey(component="checkout", cause_class=CauseClass.DEPLOY)) == "checkout/deploy"
