"""The closed lists the vetoes go by: each name on one of them counts, and no other does."""

import pytest

from engine.model.finding import Veto
from engine.model.pack import CauseClass, Signal
from engine.verification.refuters import could_refute
from engine.verification.table import CHECKS
from tests.engine.judged import ALERT, DEPLOY, OWN, POOL, change, metric
from tests.engine.verification.test_vetoes import asked, hits, result

LABELS = [
    "version", "image", "image_tag", "revision", "node", "instance", "host", "zone", "region",
    "database", "datname",
]  # fmt: skip


@pytest.mark.parametrize(("label", "hit"), [*((name, True) for name in LABELS), ("pod", False)])
def test_the_symptom_is_parted_by_what_tells_causes_apart(label: str, *, hit: bool) -> None:
    here, there = (
        metric(f"M{n}", "errors", 9, own=True, last=9.0, **{label: name})
        for n, name in ((5, "blamed-1"), (6, "other-2"))
    )
    given = {"component": "blamed-1", "cause_class": CauseClass.NODE, "cites": ("M2",)}
    found = hits(ALERT, here, there, POOL, **given)  # type: ignore[arg-type]
    assert (Veto.AS_STRONG_WITHOUT_CAUSE in found) is hit


@pytest.mark.parametrize(
    ("kind", "hit"),
    [("version_split", True), ("common_denominator", True), ("peer_up_ratio", False)],
)
def test_comparing_checks_part_the_symptom_too(kind: str, *, hit: bool) -> None:
    split = result("R4", kind=kind, figures={"node=blamed-1": 9.0, "node=other-2": 9.0})
    given = {"component": "blamed-1", "cause_class": CauseClass.NODE, "cites": ("M2",)}
    found = hits(ALERT, OWN, POOL, results=(result(), asked(), split), **given)  # type: ignore[arg-type]
    assert (Veto.AS_STRONG_WITHOUT_CAUSE in found) is hit


TAKES_ALONG = {
    CauseClass.NETWORK, CauseClass.DNS, CauseClass.CLOUD_PROVIDER, CauseClass.MONITORING,
}  # fmt: skip
MEASURES = asked('node_network_drop_total{a="dns cert"}')
MOVED = metric("M8", "up", 9, service="checkout-api")
SCRAPED = MOVED.model_copy(update={"facts": MOVED.facts.model_copy(update={"signal": Signal.UP})})


@pytest.mark.parametrize("cause_class", [c for c in CauseClass if c is not CauseClass.TRAFFIC])
def test_peers_that_are_well_clear_only_what_takes_its_neighbours_along(
    cause_class: CauseClass,
) -> None:
    well = result(figures={"good": 3.0, "every": 3.0})
    found = hits(
        ALERT, OWN, POOL, SCRAPED, DEPLOY, cause_class=cause_class, results=(well, MEASURES)
    )
    assert (Veto.NO_DEVIATION in found) is (cause_class in TAKES_ALONG)


def test_two_peers_are_too_few_to_clear_anything() -> None:
    two = result(figures={"good": 2.0, "every": 2.0})
    assert Veto.NO_DEVIATION not in hits(cause_class=CauseClass.NETWORK, results=(two, MEASURES))


ELSEWHERE = {
    CauseClass.DEPENDENCY, CauseClass.DATABASE, CauseClass.NODE, CauseClass.NETWORK,
    CauseClass.DNS, CauseClass.CLOUD_PROVIDER,
}  # fmt: skip
SPOKEN_TO = (result(), result("R4", kind="ready_pods"), MEASURES)


@pytest.mark.parametrize("cause_class", list(CauseClass))
def test_a_service_with_a_symptom_is_not_its_own_dependency(cause_class: CauseClass) -> None:
    found = hits(
        ALERT, OWN, POOL, DEPLOY, cause_class=cause_class, cites=("D1", "M2"), results=SPOKEN_TO
    )
    if cause_class in ELSEWHERE:
        assert Veto.NOTHING_COULD_REFUTE in found
    elif cause_class in {CauseClass.RESOURCE_EXHAUSTION, CauseClass.DEPLOY}:
        assert Veto.NOTHING_COULD_REFUTE not in found


@pytest.mark.parametrize(
    ("cause_class", "query", "hit"),
    [
        (CauseClass.NETWORK, "up", True),
        (CauseClass.NETWORK, "tcp_retransmits", False),
        (CauseClass.DNS, "up", True),
        (CauseClass.DNS, "coredns_requests", False),
        (CauseClass.CERTIFICATE, "up", True),
        (CauseClass.CERTIFICATE, "x509_expiry", False),
        (CauseClass.NODE, "up", False),
    ],
)
def test_such_a_cause_must_have_been_looked_at(
    cause_class: CauseClass, query: str, *, hit: bool
) -> None:
    one = result(figures={"good": 1.0, "every": 3.0})
    found = hits(cause_class=cause_class, results=(one, asked(f'{query}{{a="b"}}')))
    assert (Veto.NO_DEVIATION in found) is hit


FITTING = [
    (CauseClass.TRAFFIC, {Signal.TRAFFIC}),
    (CauseClass.MONITORING, {Signal.UP}),
    (
        CauseClass.RESOURCE_EXHAUSTION,
        {Signal.SATURATION, Signal.MEMORY, Signal.CPU, Signal.QUEUE, Signal.RESTARTS},
    ),
]


@pytest.mark.parametrize(("cause_class", "signals"), FITTING)
@pytest.mark.parametrize("signal", list(Signal))
def test_what_must_have_moved_is_what_such_a_cause_is_seen_by(
    cause_class: CauseClass, signals: set[Signal], signal: Signal
) -> None:
    still = metric("M7", "measured", 0.5, service="checkout-api")
    told = still.facts.model_copy(update={"signal": signal})
    lying = still.model_copy(update={"facts": told})
    some = result(figures={"good": 1.0, "every": 3.0})
    found = hits(
        ALERT, OWN, POOL, lying, cause_class=cause_class, cites=("M2",), results=(some, MEASURES)
    )
    must = cause_class in {CauseClass.TRAFFIC, CauseClass.MONITORING}
    assert (Veto.NO_DEVIATION in found) is (must or signal in signals)


@pytest.mark.parametrize("signal", list(Signal))
def test_other_services_are_compared_by_what_a_failure_looks_like(signal: Signal) -> None:
    def measured(id_: str, service: str) -> object:
        one = metric(id_, "seen", 9, last=9.0, service=service)
        return one.model_copy(update={"facts": one.facts.model_copy(update={"signal": signal})})

    found = hits(ALERT, measured("M5", "checkout-api"), measured("M6", "payments"), POOL, DEPLOY)  # type: ignore[arg-type]
    effect = signal in {Signal.ERRORS, Signal.LATENCY}
    assert (Veto.AS_STRONG_WITHOUT_CAUSE in found) is effect


@pytest.mark.parametrize(
    ("kind", "slack"),
    [("image", True), ("build", True), ("restart", True), ("deploy", False), ("config", False)],
)
def test_what_is_read_off_metrics_has_a_scrape_of_slack(kind: str, *, slack: bool) -> None:
    found = hits(ALERT, OWN, POOL, change("D1", "checkout-api", 59, kind=kind))
    assert (Veto.BEGAN_AFTER_ONSET in found) is not slack


@pytest.mark.parametrize(("deviation", "hit"), [(0.99, True), (1.0, False), (1.2, False)])
def test_a_symptom_that_did_not_move_at_all_stood_before(deviation: float, *, hit: bool) -> None:
    found = hits(ALERT, metric("M1", "errors", deviation, own=True), POOL, DEPLOY)
    assert (Veto.STOOD_BEFORE_CAUSE in found) is hit


@pytest.mark.parametrize(("last", "full"), [(9.4, False), (9.5, True), (10.0, True)])
def test_a_ceiling_counts_as_reached_a_little_below_it(last: float, *, full: bool) -> None:
    one = metric("M2", "checkout-api db pool in use", 0.1, last=last)
    pool = one.model_copy(update={"facts": one.facts.model_copy(update={"limit": 10.0})})
    given = {"cause_class": CauseClass.RESOURCE_EXHAUSTION, "cites": ("M2",)}
    alone = metric("M1", "errors", 14, own=True, other="x")
    assert (Veto.NO_DEVIATION in hits(ALERT, alone, pool, **given)) is not full  # type: ignore[arg-type]


def test_a_floor_of_our_own_records_is_no_floor_of_a_backend() -> None:
    wide = result(scoped=False)
    own = result("R2", kind="incidents_in_window", scoped=True, backend=None)
    assert Veto.FLOOR_UNSCOPED in hits(results=(wide, own, asked()))
    assert Veto.FLOOR_UNSCOPED not in hits(results=(own, asked()))


C = CauseClass
WIDE = {C.NODE, C.NETWORK, C.DNS, C.CLOUD_PROVIDER, C.MONITORING}
REFUTED = {
    "peer_up_ratio": WIDE,
    "ready_pods": {*WIDE, C.RESOURCE_EXHAUSTION},
    "host_reachability": {C.NODE, C.NETWORK, C.MONITORING},
    "host_neighbours": WIDE,
    "version_split": {C.DEPLOY, C.CONFIG_CHANGE, C.CODE_FAULT},
    "common_denominator": {C.NODE, C.NETWORK, C.CLOUD_PROVIDER, C.DATABASE},
    "incidents_in_window": set(),
    "cause_series": set(),
    "widened": set(),
    "model_promql": set(C) - {C.OTHER},
}


@pytest.mark.parametrize("kind", CHECKS)
def test_a_check_speaks_against_certain_classes_of_cause_only(kind: str) -> None:
    assert {one for one in CauseClass if could_refute(kind, one)} == REFUTED[kind]
