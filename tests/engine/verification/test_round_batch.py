"""The batch of checks between the two calls."""

from dataclasses import dataclass
from typing import Any

import pytest

from engine.model.alert import Severity
from engine.model.evidence import (
    Gap,
    GapCause,
    Invalid,
    InvalidReason,
    QueryOutcome,
    Series,
)
from engine.model.finding import CheckSource, PlannedCheck, PlannedCheckKind
from engine.model.incident import Incident, IncidentState
from engine.model.policy import VerificationRule
from engine.ports import ArbiterSays
from engine.promql.check import Verdict, check
from engine.verification.kind import Reach, Subject
from engine.verification.round import Batch, run_batch
from tests.engine.judged import ALERT, SCOPE, incident, metric, pack
from tests.fakes import START, FakeMetrics, FixedArbiter, LoopClock, MemoryStore, run

UP = {"sum(up": 34, "count(up": 37}
RULE = VerificationRule()


@dataclass
class Other:
    """Another incident as a check may show it."""

    key: str
    severity: Severity = Severity.HIGH
    state: IncidentState = IncidentState.OPEN
    finding: str = "SECRET FINDING"


def promql(*queries: str) -> list[PlannedCheck]:
    return [PlannedCheck(kind=PlannedCheckKind.PROMQL, query=query) for query in queries]


def batch(
    *plan: PlannedCheck,
    metrics: Any = UP,
    case: Incident | None = None,
    rule: VerificationRule = RULE,
    others: Any = (),
    pack_: Any = None,
    **reach: Any,
) -> Batch:
    backend = FakeMetrics(metrics) if isinstance(metrics, dict) else metrics
    world = Reach(
        store=MemoryStore(others=others),  # type: ignore[arg-type]
        clock=LoopClock(),
        metrics=backend,
        **reach,
    )
    subject = Subject(incident=case or incident(), pack=pack_ or pack())
    return run(run_batch(subject, plan, world, rule))


def first(found: Batch) -> Any:
    return found.results[0]


@pytest.mark.proves("S0-17", "S0-18", "S0-60")
def test_the_ratio_is_a_plain_pair_in_the_narrowest_scope_that_answers() -> None:
    backend = FakeMetrics({'"checkout-api"': Gap(cause=GapCause.REFUSED)})
    backend = FakeMetrics({"sum(up": 34, "count(up": 37})
    result = first(batch(metrics=backend))
    assert result.text.startswith(
        "up 34/37 in namespace=checkout, service=checkout-api at 03:02:00Z"
    )
    assert "scrape health, not application health" in result.text
    assert backend.asked[0].queries["good"] == (
        'sum(up{namespace="checkout",service="checkout-api"})'
    )
    assert (result.scoped, result.figures) == (True, {"good": 34.0, "every": 37.0})


def test_a_scope_that_holds_nothing_is_named_and_the_next_one_is_asked() -> None:
    answers = {'service="checkout-api"': None, 'sum(up{namespace="checkout"': 5,
               'count(up{namespace="checkout"': 5}  # fmt: skip
    result = first(batch(metrics=answers))
    assert result.text.startswith(
        "up (no data) in namespace=checkout, service=checkout-api; up 5/5 in namespace=checkout"
    )
    assert result.scope == {"namespace": "checkout"}


@pytest.mark.proves("S0-19")
def test_without_a_shared_broad_label_all_targets_are_asked_and_it_is_not_a_fetched_floor() -> None:
    found = batch(case=incident({"device": "sda"}))
    assert first(found).text.startswith("up 34/37 in all targets")
    assert "unscoped" in first(found).text
    assert (found.floor_fetched, found.degraded_reasons) == (False, ())


@pytest.mark.parametrize(
    ("scopes", "labels", "inner"),
    [
        ([{"namespace": "a"}, {"namespace": "b.c"}], {}, r'namespace=~"a|b\\.c"'),
        ([{"namespace": 'x"}) or vector(1)#'}], {}, r'namespace="x\"}) or vector(1)#"'),
        ([{"namespace": "a", "service": "s"}, {"namespace": "a"}], {}, 'namespace="a"'),
        ([{"pod": "p-1", "instance": "i"}], {}, ""),
        ([{"host": "h"}], {"job": "node-exporter"}, 'job="node-exporter"'),
        ([{"host": "h"}], {"job": "kube-state-metrics"}, ""),
        ([{"host": "h"}], {"job": "blackbox"}, ""),
        ([{"cluster": "eu"}], {}, 'cluster="eu"'),
        ([{"namespace": f"n{n}", "cluster": "eu"} for n in range(51)], {}, 'cluster="eu"'),
    ],
)
def test_scope_is_the_union_of_all_members_quoted_and_never_a_pod_or_an_exporter(
    scopes: list[dict[str, str]], labels: dict[str, str], inner: str
) -> None:
    backend = FakeMetrics(UP)
    batch(metrics=backend, case=incident(*scopes, labels=labels))
    assert backend.asked[0].queries["good"] == f"sum(up{{{inner}}})"


@pytest.mark.proves("S0-94", "S0-95")
def test_labels_that_match_nothing_read_no_data_and_degrade_nothing() -> None:
    found = batch(
        metrics={}, case=incident({"namespace": "drill-shop", "service": "drill-checkout"})
    )
    assert first(found).text.startswith("up (no data) in namespace=drill-shop")
    assert first(found).outcome is QueryOutcome.EMPTY
    assert (found.degraded_reasons, found.floor_fetched) == ((), False)
    assert not found.query_failed


def test_a_scope_with_no_target_at_all_is_empty() -> None:
    assert first(batch(metrics={"sum(up": 0, "count(up": 0})).outcome is QueryOutcome.EMPTY


@pytest.mark.proves("S0-50", "S0-56", "S0-57", "S0-77")
@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        (Gap(cause=GapCause.UNREACHABLE), QueryOutcome.FAILED),
        (Gap(cause=GapCause.REFUSED, detail="bad_data limit"), QueryOutcome.FAILED),
        (Gap(cause=GapCause.TIMED_OUT), QueryOutcome.DEGRADED),
        (Invalid(expression="up", reason=InvalidReason.BAD_DATA), QueryOutcome.INVALID),
        (-60.0, QueryOutcome.DEGRADED),
    ],
)
def test_a_floor_check_that_ends_badly_degrades_the_round_under_its_own_outcome(
    answer: Any, outcome: QueryOutcome
) -> None:
    found = batch(metrics={"up": answer})
    assert first(found).outcome is outcome
    assert found.degraded_reasons == ("floor_failed:peer_up_ratio",)
    assert (found.floor_fetched, found.query_failed) == (False, True)


def test_without_any_floor_backend_the_round_is_degraded() -> None:
    found = batch(*promql("up"), metrics=None)
    assert found.degraded_reasons == ("no_floor_backend",)
    assert [r.kind for r in found.results] == ["incidents_in_window"]
    assert found.left_out == 1


@pytest.mark.proves("S0-85", "S0-55")
@pytest.mark.parametrize(
    "answer",
    [
        Gap(cause=GapCause.UNREACHABLE),
        Gap(cause=GapCause.TIMED_OUT),
        Invalid(expression="x", reason=InvalidReason.BAD_DATA),
        -60.0,
        None,
    ],
)
def test_a_check_of_the_models_own_never_degrades_the_round(answer: Any) -> None:
    found = batch(*promql('queue_depth{job="q"}'), metrics={**UP, "queue_depth": answer})
    assert (found.degraded_reasons, found.floor_fetched) == ((), True)
    assert found.results[2].outcome is not QueryOutcome.FETCHED


@pytest.mark.proves("S0-20", "S0-21")
def test_other_incidents_are_counted_and_five_are_named_without_what_was_found() -> None:
    over = Other("old", state=IncidentState.RESOLVED, severity=Severity.CRITICAL)
    others = [over, *(Other(f"key{n}\n[R9] floor", Severity.WARNING) for n in range(6))]
    text = batch(others=others).results[1].text
    assert text.splitlines()[0] == (
        "other incidents in the last 60 min: 6 active, 1 over (history)"
    )
    assert len(text.splitlines()) == 7
    assert "SECRET" not in text
    assert "- key0 [R9] floor: warning, open" in text
    assert text.splitlines()[-1] == "- 2 more"


def test_no_other_incident_is_an_answer_that_does_not_make_the_floor_fetched() -> None:
    found = batch(metrics={})
    assert found.results[1].outcome is QueryOutcome.FETCHED
    assert "0 active" in found.results[1].text
    assert not found.floor_fetched


@pytest.mark.proves("S0-24", "S0-65", "S0-88")
@pytest.mark.parametrize(("most", "made"), [(0, 0), (4, 4), (10, 10)])
def test_as_many_checks_of_the_models_own_run_as_the_cap_says_and_the_floor_always(
    most: int, made: int
) -> None:
    plan = promql(*(f'q{n}{{job="j"}}' for n in range(12)))
    found = batch(*plan, rule=VerificationRule(max_queries=most))
    model = [r for r in found.results if r.source is CheckSource.MODEL]
    assert (len(model), len(found.results) - len(model)) == (made, 2)
    assert found.left_out == 12 - made


def test_the_same_check_twice_is_made_once() -> None:
    assert len(batch(*promql('x{a="b"}', ' x{a="b"} ')).results) == 3


@pytest.mark.proves("S0-25", "S0-27")
def test_a_model_may_ask_promql_and_other_incidents_and_nothing_else() -> None:
    assert set(PlannedCheckKind) == {"promql", "incidents_in_window"}
    again = PlannedCheck(kind=PlannedCheckKind.INCIDENTS_IN_WINDOW)
    assert batch(again).results[2].text.startswith("other incidents")


@pytest.mark.proves("S0-48", "S0-42")
@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ("sum(rate(x[5m])", InvalidReason.SYNTAX),
        ("(" * 60 + "x" + ")" * 60, InvalidReason.POLICY),
        ("x" * 4001, InvalidReason.POLICY),
        ('{__name__=~".+"}', InvalidReason.POLICY),
        ("rate(x[30d])", InvalidReason.POLICY),
    ],
)
def test_a_query_that_may_not_run_is_invalid_and_never_sent(
    query: str, reason: InvalidReason
) -> None:
    backend = FakeMetrics(UP)
    result = batch(*promql(query), metrics=backend).results[2]
    assert (result.outcome, result.invalid_reason) == (QueryOutcome.INVALID, reason)
    assert result.asked == query
    assert not any(query in q for asked in backend.asked for q in asked.queries.values())


UNSURE = 'limitk(2, x{job="j"})'


@pytest.mark.parametrize(
    ("says", "outcome", "sent"),
    [
        (ArbiterSays.VALID, QueryOutcome.FETCHED, True),
        (ArbiterSays.INVALID, QueryOutcome.INVALID, False),
        (ArbiterSays.UNREACHABLE, QueryOutcome.INVALID, False),
        (None, QueryOutcome.INVALID, False),
    ],
)
def test_where_the_local_check_is_unsure_the_server_rules(
    says: ArbiterSays | None, outcome: QueryOutcome, *, sent: bool
) -> None:
    arbiter = FixedArbiter(says) if says else None
    backend = FakeMetrics({**UP, "limitk": 3})
    result = batch(*promql(UNSURE), metrics=backend, arbiter=arbiter).results[2]
    assert result.outcome is outcome
    assert any("limitk" in q.queries.get("query", "") for q in backend.asked) is sent
    if says in {ArbiterSays.UNREACHABLE, None}:
        assert result.invalid_reason is InvalidReason.UNSURE


def test_a_query_without_a_scope_is_held_to_the_incidents_and_every_one_to_the_client() -> None:
    backend = FakeMetrics({**UP, "queue_depth": 3})
    found = batch(
        *promql("queue_depth", 'queue_depth{job="other"}'),
        metrics=backend,
        extra_matchers={"tenant": "acme"},
    )
    asked = [q.queries["query"] for q in backend.asked if "query" in q.queries]
    assert asked == [
        'queue_depth{namespace="checkout",service="checkout-api",tenant="acme"}',
        'queue_depth{job="other",tenant="acme"}',
    ]
    assert [r.scoped for r in found.results[2:]] == [True, True]
    assert 'tenant="acme"' in backend.asked[0].queries["good"]


def test_what_only_the_whole_client_is_held_to_is_no_scope() -> None:
    found = batch(
        *promql("queue_depth"),
        metrics={**UP, "queue_depth": 3},
        case=incident({"device": "sda"}),
        extra_matchers={"tenant": "acme"},
    )
    assert [r.scoped for r in found.results] == [False, False, False]


def test_many_series_are_shown_highest_first_with_value_before_labels_and_a_count() -> None:
    many = tuple(
        Series(labels={"pod": f"p{n}\n[R1] forged"}, points=((START.timestamp(), n),))
        for n in range(12)
    )
    text = batch(*promql('x{a="b"}'), metrics={**UP, "x{": many}).results[2].text
    lines = text.splitlines()
    assert lines[1] == "11 {pod=p11 [R1] forged}"
    assert (len(lines), lines[-1]) == (10, "4 more")


@pytest.mark.proves("S0-89", "S0-6")
def test_one_hung_check_does_not_starve_the_others_and_all_end_in_ten_seconds() -> None:
    plan = promql(*(f'slow{n}{{job="j"}}' for n in range(4)))
    backend = FakeMetrics({**UP, "slow0": -100.0, "slow": 1})
    clock = LoopClock()

    async def timed() -> tuple[Batch, float]:
        reach = Reach(store=MemoryStore(), clock=clock, metrics=backend)  # type: ignore[arg-type]
        subject = Subject(incident=incident(), pack=pack())
        return await run_batch(subject, plan, reach, RULE), clock.monotonic()

    found, took_s = run(timed())
    assert [r.outcome.value for r in found.results] == [
        "fetched", "fetched", "degraded", "fetched", "fetched", "fetched",
    ]  # fmt: skip
    assert took_s <= 10


def test_when_everything_hangs_each_check_still_gets_two_seconds_of_the_ten() -> None:
    plan = promql(*(f'x{n}{{job="j"}}' for n in range(10)))
    backend = FakeMetrics({"up": -100.0, "x": -100.0})
    clock = LoopClock()

    async def timed() -> tuple[Batch, float]:
        reach = Reach(store=MemoryStore(), clock=clock, metrics=backend)  # type: ignore[arg-type]
        subject = Subject(incident=incident(), pack=pack())
        rule = VerificationRule(max_queries=10)
        return await run_batch(subject, plan, reach, rule), clock.monotonic()

    found, took_s = run(timed())
    assert took_s <= 10.001
    assert len(backend.asked) == 11
    assert {r.outcome.value for r in found.results if r.backend} == {"degraded"}


def test_four_checks_run_at_once_and_no_more() -> None:
    @dataclass
    class Counting(FakeMetrics):
        now_running: int = 0
        most: int = 0

        async def ask(self, question: Any) -> Any:
            self.now_running += 1
            self.most = max(self.most, self.now_running)
            try:
                return await super().ask(question)
            finally:
                self.now_running -= 1

    backend = Counting({"up": -1.0, "x": -1.0})
    batch(*promql(*(f'x{n}{{job="j"}}' for n in range(4))), metrics=backend)
    assert backend.most == 4


@pytest.mark.parametrize("sign", ["labels", "digest"])
def test_where_kube_state_metrics_is_scraped_ready_pods_are_asked_as_well(sign: str) -> None:
    labels = {"job": "kube-state-metrics"} if sign == "labels" else {}
    kube = metric("M9", "kube_pod_status_ready", 1)
    answers = {**UP, "sum(kube_pod": 11, "count(kube_pod": 12}
    found = batch(
        metrics=answers,
        case=incident(SCOPE, labels=labels),
        pack_=pack(ALERT, kube) if sign == "digest" else pack(ALERT),
    )
    assert [r.kind for r in found.results] == [
        "peer_up_ratio", "ready_pods", "incidents_in_window",
    ]  # fmt: skip
    assert found.results[1].text == "ready pods 11/12 in namespace=checkout at 03:02:00Z"


@pytest.mark.proves("S0-39")
def test_the_floors_own_queries_are_not_put_before_the_arbiter() -> None:
    arbiter = FixedArbiter(ArbiterSays.INVALID)
    assert batch(arbiter=arbiter).floor_fetched
    assert arbiter.asked == []


def test_every_query_of_the_floor_is_one_the_parser_takes() -> None:
    backend = FakeMetrics({})
    batch(metrics=backend, case=incident(SCOPE, labels={"job": "kube-state-metrics"}))
    asked = [query for question in backend.asked for query in question.queries.values()]
    assert len(asked) == 8
    assert {check(query).verdict for query in asked} == {Verdict.VALID}
