"""The alert's own series by version and by place, and what that has against a cause."""

from typing import Any

import pytest

from engine.model.evidence import Gap, GapCause, QueryOutcome, Series
from engine.model.finding import CauseKey, CheckResult, CheckSource, TrustLevel, Veto
from engine.model.pack import CauseClass, Item
from engine.model.policy import VerificationRule
from engine.verification.accused import Accused
from engine.verification.kind import Reach, Subject
from engine.verification.refuters import could_refute
from engine.verification.round import Batch, run_batch
from engine.verification.vetoes import vetoes
from tests.engine.judged import (
    ALERT,
    OWN,
    POOL,
    UP,
    Table,
    change,
    drafted,
    incident,
    metric,
    pack,
    ruled,
)
from tests.fakes import START, FakeMetrics, LoopClock, MemoryStore, ScriptedLLM, run

BUILD = change("D1", "checkout-api", -240, "v2.4.0 → v2.4.1", kind="build")
ON_NODES = metric("M3", "latency", 4, node="n1")
CASE = (ALERT, OWN, POOL, BUILD)


def of(number: float, **labels: str) -> Series:
    return Series(labels=labels, points=((START.timestamp(), number),))


def batch(*items: Item, metrics: Any, **reach: Any) -> Batch:
    world = Reach(
        store=MemoryStore(),  # type: ignore[arg-type]
        clock=LoopClock(),
        metrics=FakeMetrics({"sum(up": 34, "count(up": 37, **metrics}),
        **reach,
    )
    subject = Subject(incident=incident(), pack=pack(*(items or CASE)))
    return run(run_batch(subject, [], world, VerificationRule()))


def split(found: Batch, kind: str = "version_split") -> CheckResult:
    return next(r for r in found.results if r.kind == kind)


ERRORS = (
    of(9, version="v2.4.1", pod="a"), of(7, version="v2.4.1", pod="b"),
    of(1, version="v2.4.0", pod="c"),
)  # fmt: skip


def test_the_symptom_of_each_version_stands_side_by_side() -> None:
    result = split(batch(metrics={"http_errors_total": ERRORS}))
    assert result.text == (
        "symptom by version: v2.4.1 8 (series 2), v2.4.0 1 (series 1) at 03:02:00Z"
    )
    assert result.asked == (
        "sum by (version, image, image_tag, revision, pod, instance) "
        '(rate(http_errors_total{service="checkout-api"}[5m]))'
    )
    assert (result.source, result.outcome) == (CheckSource.FLOOR, QueryOutcome.FETCHED)
    assert result.figures == {"version=v2.4.1": 8.0, "version=v2.4.0": 1.0}


def test_where_the_series_carry_no_version_the_build_of_their_process_tells_it() -> None:
    own = (of(9, pod="a"), of(8, pod="b"), of(1, pod="c"))
    builds = (of(1, pod="a", version="2"), of(1, pod="b", version="2"), of(1, pod="c", version="1"))
    found = split(batch(metrics={"http_errors_total": own, "_build_info": builds}))
    assert found.figures == {"version=2": 8.5, "version=1": 1.0}


def test_what_every_pod_runs_tells_none_from_the_others() -> None:
    own = (of(9, pod="a"), of(1, pod="b"))
    images = tuple(
        of(1, pod=pod, image=image)
        for pod, image in (("a", "app:2"), ("a", "proxy:1"), ("b", "app:1"), ("b", "proxy:1"))
    )
    found = split(batch(metrics={"http_errors_total": own, "kube_pod_container_info": images}))
    assert found.figures == {"image=app:2": 9.0, "image=app:1": 1.0}


def test_a_process_known_by_its_instance_is_looked_up_and_one_of_two_values_tells_nothing() -> None:
    own = (of(9, instance="i1"), of(5, instance="i2"), of(1, pod="c"), of(2, pod="d"))
    builds = (
        of(1, instance="i1", version="2"), of(1, instance="i2", version="2"),
        of(1, instance="i2", version="3"), of(1, pod="c", version="1"), of(1, version="9"),
    )  # fmt: skip
    found = split(batch(metrics={"http_errors_total": own, "_build_info": builds}))
    assert found.figures == {"version=2": 9.0, "version=1": 1.0}


@pytest.mark.parametrize(("versions", "more"), [(6, ""), (7, ", 1 more"), (8, ", 2 more")])
def test_six_values_are_told_the_highest_first(versions: int, more: str) -> None:
    own = tuple(of(n, version=f"v{n}") for n in range(versions))
    first = [f"v{n} {n} (series 1)" for n in range(versions - 1, versions - 7, -1)]
    found = split(batch(metrics={"http_errors_total": own}))
    assert found.text == f"symptom by version: {', '.join(first)}{more} at 03:02:00Z"


@pytest.mark.parametrize("own", [(), (of(9, version="v2.4.1"),), (of(9, pod="a"),)])
def test_one_version_alone_is_inconclusive(own: tuple[Series, ...]) -> None:
    found = batch(metrics={"http_errors_total": own})
    result = split(found)
    assert (result.outcome, result.scoped) == (QueryOutcome.EMPTY, False)
    assert (found.degraded_reasons, found.query_failed) == ((), False)


@pytest.mark.parametrize(
    ("items", "kinds"),
    [
        (CASE, {"version_split"}),
        ((ALERT, OWN, metric("M4", "latency", 4, version="1")), {"version_split"}),
        ((ALERT, OWN, ON_NODES), {"common_denominator"}),
        ((ALERT, OWN, POOL, change("D1", "checkout-api", -240)), set()),
        ((ALERT, OWN, POOL), set()),
    ],
)
def test_it_is_asked_where_there_is_something_to_set_side_by_side(
    items: tuple[Item, ...], kinds: set[str]
) -> None:
    found = {r.kind for r in batch(*items, metrics={}).results}
    assert found & {"version_split", "common_denominator"} == kinds


def test_it_is_beside_the_promised_floor_and_neither_keeps_nor_breaks_the_promise() -> None:
    gap = Gap(cause=GapCause.REFUSED)
    lost = batch(metrics={"http_errors_total": gap})
    assert split(lost).outcome is QueryOutcome.FAILED
    assert (lost.degraded_reasons, lost.floor_fetched) == ((), True)
    alone = batch(metrics={"sum(up": None, "count(up": None, "http_errors_total": ERRORS})
    assert split(alone).outcome is QueryOutcome.FETCHED
    assert not alone.floor_fetched


def test_what_is_shared_is_asked_by_node_and_zone() -> None:
    own = (of(9, pod="a"), of(1, pod="b"))
    places = (of(1, pod="a", node="n1"), of(1, pod="b", node="n2"))
    found = batch(
        ALERT, OWN, ON_NODES, metrics={"http_errors_total": own, "kube_pod_info": places},
        extra_matchers={"tenant": "acme"},
    )  # fmt: skip
    result = split(found, "common_denominator")
    assert result.figures == {"node=n1": 9.0, "node=n2": 1.0}
    assert 'tenant="acme"' in result.asked


@pytest.mark.parametrize(
    ("kind", "able"),
    [
        ("version_split", {CauseClass.DEPLOY, CauseClass.CONFIG_CHANGE, CauseClass.CODE_FAULT}),
        (
            "common_denominator",
            {CauseClass.NODE, CauseClass.NETWORK, CauseClass.CLOUD_PROVIDER, CauseClass.DATABASE},
        ),
    ],
)
def test_each_can_speak_against_certain_causes_only(kind: str, able: set[CauseClass]) -> None:
    assert {cause for cause in CauseClass if could_refute(kind, cause)} == able


@pytest.mark.parametrize(
    ("figures", "hit"),
    [
        ({"version=v2.4.1": 9.0, "version=v2.4.0": 8.5}, True),
        ({"version=v2.4.1": 9.0, "version=v2.4.0": 1.0}, False),
        ({"image=reg/app:v2.4.1": 9.0, "image=reg/app:v2.4.0": 9.0}, True),
        ({"node=n1": 9.0, "node=n2": 9.0}, False),
        ({"queue=v2.4.1": 9.0, "queue=x": 9.0}, False),
    ],
)
def test_a_symptom_as_strong_on_the_old_version_speaks_against_the_new_one(
    figures: dict[str, float], *, hit: bool
) -> None:
    what = (
        "reg/app:v2.4.0 → reg/app:v2.4.1" if "image" in next(iter(figures)) else "v2.4.0 → v2.4.1"
    )
    checked = CheckResult(
        id="R3", source=CheckSource.FLOOR, kind="version_split", asked="x", text="",
        outcome=QueryOutcome.FETCHED, scoped=True, backend="metrics", figures=figures,
    )  # fmt: skip
    accused = Accused(
        cause=CauseKey(component="checkout-api", cause_class=CauseClass.DEPLOY),
        rulings=(),
        pack=pack(ALERT, OWN, POOL, change("D1", "checkout-api", -240, what, kind="build")),
        results=(checked,),
    )
    assert (Veto.AS_STRONG_WITHOUT_CAUSE in vetoes(accused)) is hit


@pytest.mark.parametrize(
    ("old", "trust"), [(1.0, TrustLevel.VERIFIED), (9.0, TrustLevel.UNCONFIRMED)]
)
def test_the_same_case_is_verified_or_not_by_how_the_old_version_fares(
    old: float, trust: TrustLevel
) -> None:
    own = (of(9, version="v2.4.1"), of(old, version="v2.4.0"))
    desk = Table(
        ScriptedLLM([drafted(plan=[]), ruled(cites=("R3",))]),
        metrics=FakeMetrics({**UP, "http_errors_total": own}),
    )
    finding = desk.triage(pack(*CASE))
    assert finding.trust_level is trust
    assert finding.vetoes == (
        () if trust is TrustLevel.VERIFIED else (Veto.AS_STRONG_WITHOUT_CAUSE,)
    )
